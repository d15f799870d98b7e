import { byteaArray } from '../../kit/db/binary-array.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import { woken } from '../../lanes/index.ts';
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
  ['destination_id', 'uuid', ({ destinationId }) => destinationId],
  ['page', 'int', ({ page }) => page],
  ['slice', 'smallint', ({ slice }) => slice],
  ['records', 'int', ({ records }) => records],
  ['bytes', 'int', ({ bytes }) => bytes],
  ['encoding', 'smallint', ({ encoding }) => encoding],
  ['keys', 'json', ({ keys }) => keys],
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
 * is there once for a number. Their work rows and the wakes of their lanes are made with them. `from` is the number of the first
 * parameter of {@link messageColumns}. The statement has a CTE `clock(now)`. `messages` has n, id and records of what was kept.
 */
export function messageParts(from: number, source: string): string {
  const parameters = ['bigint', ...columns.map(([, type]) => type), ...binary.map(() => 'bytea')];
  const arrays = parameters.map((type, at) => `$${from + at}::${type}[]`).join(', ');
  return `messages AS MATERIALIZED (
    SELECT i.* FROM unnest(${arrays}) AS i(n, ${names}) JOIN ${source} s ON s.n = i.n),
  message_rows AS (
    INSERT INTO message (${names}, created_at)
    SELECT ${names}, now FROM clock, (SELECT * FROM messages ORDER BY n, slice) m),
  message_works AS (
    INSERT INTO work (project_id, operation_id, lane_id, kind, due_at, deadline)
    SELECT project_id, id, destination_id, 'delivery', now, now + ${deadline}
    FROM clock, (SELECT * FROM messages ORDER BY n, slice) m
    RETURNING project_id, lane_id, due_at),
  message_wakes AS (${woken('SELECT * FROM message_works')})`;
}

/** The parameters of {@link messageParts}. */
export function messageColumns(messages: readonly NumberedMessage[]): unknown[] {
  return [
    messages.map(({ n }) => n),
    ...columns.map(([, , read]) => messages.map(read)),
    ...binary.map(([, read]) => byteaArray(messages.map(read))),
  ];
}

const keep = statement(
  'messages_keep',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  every AS (SELECT n FROM generate_series(1, $1::int) n),
  ${messageParts(2, 'every')}
  SELECT count(*) FROM messages`,
);

/** In one statement of its own. */
export async function keepMessages(db: Queryable, messages: readonly NewMessage[]): Promise<void> {
  const numbered = messages.map((message, at) => Object.assign({ n: at + 1 }, message));
  await db.rows(keep, [messages.length, ...messageColumns(numbered)]);
}
