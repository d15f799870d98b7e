import { byteaArray } from '../../kit/db/binary-array.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import { currentTrace } from '../../kit/trace.ts';
import { heldLanesOf, restingLanesOf, woken } from '../../lanes/index.ts';
import type { NewMessage } from '../messages.ts';

/**
 * How long a delivery may wait in all. Its attempts end it earlier; this only keeps what stands before a disabled destination
 * from counting as overdue, until its message is dropped.
 */
export const deadline = `interval '400 days'`;

/** The columns of a message with their types in parameters, in the order of {@link messageColumns}. */
const columns: readonly [name: string, type: string, read: (message: NewMessage) => unknown][] = [
  ['id', 'uuid', ({ id }) => id],
  ['project_id', 'uuid', ({ projectId }) => projectId],
  ['operation_id', 'uuid', ({ operationId }) => operationId],
  ['installation_id', 'uuid', ({ installationId }) => installationId],
  ['group_ref', 'text', ({ groupRef }) => groupRef],
  ['object', 'text', ({ object }) => object],
  ['raw_object', 'text', ({ rawObject }) => rawObject],
  ['destination_id', 'uuid', ({ destinationId }) => destinationId],
  ['page', 'int', ({ page }) => page],
  ['slice', 'smallint', ({ slice }) => slice],
  ['records', 'int', ({ records }) => records],
  ['bytes', 'int', ({ bytes }) => bytes],
  ['encoding', 'smallint', ({ encoding }) => encoding],
  ['keys', 'json', ({ keys }) => keys],
];
/** The lane of a node under which a message is accepted as started, and the trace in which it was made. */
const nodeColumns: typeof columns = [
  ['node_id', 'uuid', ({ node }) => node?.id ?? null],
  ['node_lease', 'uuid', ({ node }) => node?.lease ?? null],
  ['trace', 'text', () => currentTrace() ?? null],
];
/** In binary form, apart from the others. */
const binary: readonly [name: string, read: (message: NewMessage) => Buffer | null][] = [
  ['body', ({ body }) => body],
  ['result', ({ result }) => result],
  ['link_hash', ({ linkHash }) => linkHash],
];

const names = [...columns, ...binary].map(([name]) => name).join(', ');

/** A message of a statement that keeps it together with something else; `n` is the number of that in `source`. */
type NumberedMessage = NewMessage & { n: number };

/**
 * CTEs that keep messages together with something else: a message is kept when the CTE `source` has a row with its `n`, which
 * is there once for a number. Their work rows and the wakes of their lanes are made with them; while the lane of a node is held
 * that a message names, its work stands there as started, unless its destination rests. `from` is the number of the first
 * parameter of {@link messageColumns}. The statement has a CTE `clock(now)`. `messages` has n, id and records of what was kept,
 * `started` for each n what was started ({@link StartedMessage}).
 */
export function messageParts(from: number, source: string): string {
  const typed = [...columns, ...nodeColumns];
  const parameters = ['bigint', ...typed.map(([, type]) => type), ...binary.map(() => 'bytea')];
  const arrays = parameters.map((type, at) => `$${from + at}::${type}[]`).join(', ');
  const all = [...typed, ...binary].map(([name]) => name).join(', ');
  return `messages AS MATERIALIZED (
    SELECT i.* FROM unnest(${arrays}) AS i(n, ${all}) JOIN ${source} s ON s.n = i.n),
  nodes AS MATERIALIZED (
    ${heldLanesOf('SELECT DISTINCT project_id, node_id AS id, node_lease AS lease FROM messages WHERE node_id IS NOT NULL')}),
  resting AS MATERIALIZED (
    ${restingLanesOf('SELECT DISTINCT project_id, destination_id AS id FROM messages WHERE node_id IS NOT NULL')}),
  message_rows AS (
    INSERT INTO message (${names}, created_at)
    SELECT ${names}, now FROM clock, (SELECT * FROM messages ORDER BY n, page, slice) m
    RETURNING id, seq, created_at),
  message_works AS (
    INSERT INTO work (project_id, ref, lane_id, home_id, kind, state, attempt, lease, due_at, deadline, trace)
    SELECT project_id, id, coalesce(node, destination_id), CASE WHEN node IS NOT NULL THEN destination_id END, 'delivery',
      (node IS NOT NULL)::int, (node IS NOT NULL)::int, lease, now, now + ${deadline}, trace
    FROM clock, (
      SELECT m.*, o.id AS node, o.lease FROM messages m
      LEFT JOIN nodes o ON o.id = m.node_id AND m.destination_id NOT IN (SELECT id FROM resting)
      ORDER BY n, page, slice) m
    RETURNING project_id, ref, seq, lane_id, state, due_at),
  message_wakes AS (${woken('SELECT * FROM message_works WHERE state = 0')}),
  started AS (
    SELECT m.n, json_agg(json_build_object('id', m.id, 'workSeq', w.seq::text, 'seq', r.seq::text,
      'createdAt', floor(extract(epoch FROM r.created_at) * 1000)::bigint)) AS started
    FROM (SELECT * FROM message_works WHERE state = 1) w
    JOIN messages m ON m.id = w.ref JOIN message_rows r ON r.id = m.id
    GROUP BY m.n)`;
}

/** A message that was accepted as started: its number, that of its work, and when it was made, in milliseconds. */
export interface StartedMessage {
  id: string;
  workSeq: string;
  seq: string;
  createdAt: number;
}

/** The parameters of {@link messageParts}. */
export function messageColumns(messages: readonly NumberedMessage[]): unknown[] {
  return [
    messages.map(({ n }) => n),
    ...[...columns, ...nodeColumns].map(([, , read]) => messages.map(read)),
    ...binary.map(([, read]) => byteaArray(messages.map(read))),
  ];
}

const keep = statement(
  'messages_keep',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  every AS (SELECT n FROM generate_series(1, $1::int) n),
  ${messageParts(2, 'every')}
  SELECT started FROM started`,
);

/** In one statement of its own; answers with what is started. */
export async function keepMessages(
  db: Queryable,
  messages: readonly NewMessage[],
): Promise<StartedMessage[]> {
  const numbered = messages.map((message, at) => Object.assign({ n: at + 1 }, message));
  const values = [messages.length, ...messageColumns(numbered)];
  return (await db.rows<{ started: StartedMessage[] }>(keep, values)).flatMap(({ started }) => started);
}
