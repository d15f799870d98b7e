import { countedColumns, countedEnds, eventsFrom } from '../../events/index.ts';
import { toldInstallation } from '../../installations/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { openable } from '../../kit/db/openable.ts';
import { statement } from '../../kit/db/statement.ts';
import { storable, storableJson } from '../../kit/storable.ts';
import { recordParts } from '../../lanes/index.ts';
import { countedOf, type Settlement } from '../settlement.ts';
import {
  nothingNow,
  offerColumns,
  tellText,
  type TellNow,
  type TellOffer,
  type ToldMessage,
} from '../tell-now.ts';
import { markOperations, recordHash, rememberRecords } from './parts.ts';

/** Projects that have a route for the end of an asynchronous write. */
const isTold = (project: string): string =>
  `EXISTS (SELECT FROM notified w WHERE w.event_type = 'write.async.done' AND w.project_id = ${project})`;

/** What the statement has only where somebody may be told of the ends. */
interface RecordParts {
  /** CTEs before the input, and when it is taken at all. */
  guard: string;
  unless: string;
  told: string;
  /** The number of the first parameter of what is counted. */
  counted: number;
  /** The rows of the answer beside those of what was kept, and whether somebody was told. */
  answer: string;
}

/**
 * Everything that the end of an attempt changes, for a group of items in one statement (docs/invariants.md, 10). An item whose
 * fence no longer holds changes nothing and is missing from the answer. The turn of a finished item passes on by a trigger
 * (`svc_pass_turn`). What a record is looked for by comes from one table (`outcomes`): of two, the plan for a small
 * partition takes the slot alone, and reads the whole index once it has grown.
 */
const recordText = ({ guard, unless, told, counted, answer }: RecordParts): string =>
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  ${guard}
  input AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::boolean[], $5::float8[], $6::boolean[], $7::text[],
      $8::text[], $9::json[], $10::int[], $11::int[], $12::int[], $26::bigint[]) WITH ORDINALITY
      AS i(project_id, seq, lease, done, wait_ms, spent, status, result, errors, succeeded, failed, unknown, mark, n)
    ${unless}),
  ${recordParts},
  outcomes AS MATERIALIZED (
    SELECT k.project_id, k.ref AS operation_id, x.slot, x.outcome, x.record_id
    FROM unnest($13::bigint[], $14::int[], $15::json[], $20::text[]) AS x(n, slot, outcome, record_id)
    JOIN kept k ON k.n = x.n),
  records AS (
    UPDATE record r SET outcome = x.outcome, record_id = x.record_id FROM outcomes x
    WHERE r.project_id = x.project_id AND r.operation_id = x.operation_id AND r.slot = x.slot
    RETURNING r.project_id, r.operation_id, ${recordHash('r')} AS hash),
  ${rememberRecords('records')},
  operations AS (
    UPDATE operation o SET status = k.status, result = k.result,
      errors = CASE WHEN k.done OR k.spent THEN k.errors ELSE o.errors END,
      succeeded = o.succeeded + k.succeeded, failed = o.failed + k.failed, unknown = o.unknown + k.unknown,
      attempts = k.attempt, last_attempt_at = CASE WHEN k.spent THEN now ELSE o.last_attempt_at END,
      next_attempt_at = k.due_at, updated_at = now
    FROM clock, kept k
    WHERE o.project_id = k.project_id AND o.id = k.ref),
  ${markOperations('SELECT project_id, ref AS id, status, errors FROM kept')},
  logs AS (
    INSERT INTO operation_log (project_id, operation_id, id, severity, message, created_at)
    SELECT k.project_id, k.ref, x.id, x.severity, x.message, now
    FROM clock, unnest($16::bigint[], $17::uuid[], $18::text[], $19::json[]) AS x(n, id, severity, message)
    JOIN kept k ON k.n = x.n),
  answers AS (
    UPDATE idempotency d SET status = x.status, response = x.response
    FROM unnest($21::bigint[], $22::text[], $23::text[], $24::smallint[], $25::json[]) AS x(n, principal, key, status, response)
    JOIN kept k ON k.n = x.n
    WHERE d.project_id = k.project_id AND d.principal = x.principal AND d.key = x.key AND d.operation_id = k.ref),
  ${countedEnds(counted)}
  ${told}
  SELECT ${answer}`;

/** While nobody is told, this alone is paid for it: a look at the routes, once for a group. */
const recordUntold = statement(
  'work_record',
  recordText({
    guard: `routes AS MATERIALIZED (SELECT ${isTold('ANY ($27::uuid[])')} AS told),`,
    unless: 'WHERE NOT (SELECT told FROM routes)',
    told: '',
    counted: 28,
    answer: 'n, false AS told FROM kept UNION ALL SELECT NULL, true FROM routes WHERE told',
  }),
);

/** A body beyond this is told without the results of its records. */
const mostResultBytes = 200_000;
/** Of the message of a failure, in the list of all. */
const mostErrorCharacters = 500;

/**
 * The same, and an event for each asynchronous write that has ended. Its records are as they were before the statement, or
 * as this one leaves them. An installation that is gone leaves nothing to be told.
 */
const recordTold = statement(
  'work_record_told',
  recordText({
    guard: '',
    unless: '',
    counted: 31,
    told: `, ending AS MATERIALIZED (
    SELECT k.n, k.project_id, k.ref, k.trace, x.id, x.installation_id, x.object
    FROM unnest($27::bigint[], $28::uuid[], $29::uuid[], $30::text[]) AS x(n, id, installation_id, object)
    JOIN kept k ON k.n = x.n WHERE ${isTold('k.project_id')}),
  results AS MATERIALIZED (
    SELECT e.id, bool_and(r.outcome->>'kind' = 'applied') AS success,
      coalesce(jsonb_agg(r.record_id ORDER BY r.slot) FILTER (WHERE r.record_id IS NOT NULL), '[]') AS ids,
      coalesce(jsonb_agg(left(f->>'category' || ': ' || (f->>'message'), ${mostErrorCharacters}) ORDER BY r.slot)
        FILTER (WHERE f IS NOT NULL), '[]') AS errors,
      jsonb_agg(jsonb_strip_nulls(jsonb_build_object('index', r.slot, 'reference', r.reference,
        'success', r.outcome->>'kind' = 'applied', 'recordId', r.record_id, 'created', r.outcome->'created',
        'errors', CASE WHEN f IS NOT NULL THEN jsonb_build_array(jsonb_build_object('category', f->'category',
          'retryable', f->'retryable', 'message', f->'message', 'provider', f->'provider',
          'existingRecordId', f->'existingRecordId')) END)) ORDER BY r.slot) AS records
    FROM ending e CROSS JOIN LATERAL (
      SELECT r.slot, r.reference, coalesce(o.outcome, ${openable('r.outcome')})::jsonb AS outcome,
        CASE WHEN o.outcome IS NULL THEN r.record_id ELSE o.record_id END AS record_id
      FROM (SELECT * FROM record r WHERE r.project_id = e.project_id AND r.operation_id = e.ref OFFSET 0) r
      LEFT JOIN outcomes o ON o.project_id = e.project_id AND o.operation_id = e.ref AND o.slot = r.slot) r
    CROSS JOIN LATERAL (SELECT r.outcome->'failure' AS f) f
    GROUP BY e.id),
  ${eventsFrom(`
    SELECT e.project_id, e.id, 'write.async.done' AS type, n.group_ref, n.connection_id, e.installation_id,
      (n.block || jsonb_build_object('objectName', e.object, 'operationId', e.ref, 'success', r.success,
        'successfulRecordIds', r.ids, 'errors', r.errors) || CASE
          WHEN octet_length(r.records::text) < ${mostResultBytes} THEN jsonb_build_object('results', r.records)
          ELSE '{}' END)::json AS data, e.trace
    FROM ending e JOIN results r ON r.id = e.id
    CROSS JOIN LATERAL (${toldInstallation('e.project_id', 'e.installation_id')}) n`)}`,
    answer: `n, n IN (SELECT n FROM ending) AS told, NULL::uuid AS message_id, NULL::uuid AS destination_id,
      NULL::bigint AS work_seq, NULL::bigint AS seq, NULL::text AS group_ref, NULL::timestamptz AS created_at, NULL::text AS trace, NULL::text AS body
    FROM kept
    UNION ALL
    SELECT e.n, true, s.message_id, s.destination_id, s.work_seq, s.seq, s.group_ref, s.created_at, s.trace, s.body
    FROM ${tellText('(SELECT array_agg(event) FROM told_events)', 34)} s JOIN ending e ON e.id = s.event_id`,
  }),
);

/** What of an end is told, and how. */
interface Telling {
  /** Projects of whose ends somebody is told; it only spares a statement, since each looks at the routes itself. */
  projects: Set<string>;
  /** Who sends it at once; only for what is committed by itself. */
  now?: TellNow | undefined;
}

/** Records the ends of attempts; answers for each, in order, whether its fence held. */
export async function record(
  db: Queryable,
  settled: readonly Settlement[],
  { projects: telling, now }: Telling = { projects: new Set() },
): Promise<boolean[]> {
  const common = columnsOf(settled);
  const counts = countedColumns(settled.map(countedOf));
  const ended = settled.flatMap((one, at) =>
    one.eventId === undefined ? [] : [{ ...one, eventId: one.eventId, n: at + 1 }],
  );
  const projects = [...new Set(ended.map(({ projectId }) => projectId))];
  if (!projects.some((id) => telling.has(id))) {
    const kept = recordedIn(await db.rows<EndRow>(recordUntold, [...common, projects, ...counts]));
    if (kept.told.size === 0) return heldIn(settled, kept.held);
  }
  const offer = (await now?.offer(projects)) ?? nothingNow;
  const values = [
    ...common,
    ended.map(({ n }) => n),
    ended.map(({ eventId }) => eventId),
    ended.map(({ installationId }) => installationId),
    ended.map(({ resource }) => resource),
    ...counts,
    ...offerColumns(offer),
  ];
  const { held, told } = await recordAndTell(db, values, settled, offer);
  for (const id of projects) telling.delete(id);
  for (const { n, projectId } of ended) if (told.has(n)) telling.add(projectId);
  return heldIn(settled, held);
}

interface EndRow {
  /** Null: nothing was recorded, since somebody is told. */
  n: string | null;
  told: boolean;
  message_id?: null;
}

interface ToldRow {
  n: string;
  told: true;
  message_id: string;
  destination_id: string;
  work_seq: string | null;
  seq: string;
  group_ref: string | null;
  created_at: Date;
  trace: string | null;
  body: string | null;
}

interface Recorded {
  held: ReadonlySet<number>;
  told: ReadonlySet<number>;
}

function recordedIn(rows: readonly EndRow[]): Recorded {
  const numbers = (wanted: typeof rows): Set<number> => new Set(wanted.map(({ n }) => Number(n)));
  return { held: numbers(rows), told: numbers(rows.filter(({ told }) => told)) };
}

/** Whatever comes of it, the offer hears of it. */
async function recordAndTell(
  db: Queryable,
  values: readonly unknown[],
  settled: readonly Settlement[],
  offer: TellOffer,
): Promise<Recorded> {
  let messages: ToldMessage[] = [];
  try {
    const rows = await db.rows<EndRow | ToldRow>(recordTold, values);
    const told = rows.filter((row): row is ToldRow => row.message_id !== null);
    messages = told.map((row) => messageOf(row, settled[Number(row.n) - 1]));
    return recordedIn(rows.filter((row): row is EndRow => row.message_id === null));
  } finally {
    offer.kept(messages);
  }
}

function messageOf(row: ToldRow, end: Settlement | undefined): ToldMessage {
  const { message_id: id, destination_id: destinationId, work_seq: workSeq, seq, body } = row;
  return {
    projectId: end?.projectId ?? '',
    installationId: end?.installationId ?? '',
    groupRef: row.group_ref,
    id,
    seq,
    destinationId,
    createdAt: row.created_at,
    trace: row.trace,
    started: workSeq === null || body === null ? undefined : { workSeq, body },
  };
}

function heldIn(settled: readonly Settlement[], held: ReadonlySet<number>): boolean[] {
  return settled.map((_, at) => held.has(at + 1));
}

function columnsOf(settled: readonly Settlement[]): unknown[] {
  const column = <T>(read: (settlement: Settlement) => T): T[] => settled.map(read);
  const outcomes = settled.flatMap(({ outcomes: list }, at) => list.map((one) => ({ n: at + 1, ...one })));
  const logs = settled.flatMap(({ log }, at) => (log ? [{ n: at + 1, ...log }] : []));
  const answers = settled.flatMap(({ answer }, at) => (answer ? [{ n: at + 1, ...answer }] : []));
  return [
    column((one) => one.projectId),
    column((one) => one.seq),
    column((one) => one.lease),
    column((one) => one.done),
    column((one) => one.waitMs),
    column((one) => one.spent),
    column((one) => one.status),
    column((one) => (one.result === null ? null : storable(one.result))),
    column((one) => (one.errors.length > 0 ? storableJson(one.errors) : null)),
    column((one) => one.succeeded),
    column((one) => one.failed),
    column((one) => one.unknown),
    outcomes.map((one) => one.n),
    outcomes.map((one) => one.index),
    outcomes.map((one) => storableJson(one.outcome)),
    logs.map((one) => one.n),
    logs.map((one) => one.id),
    logs.map((one) => one.severity),
    logs.map((one) => storableJson(one.message)),
    outcomes.map(({ outcome }) =>
      outcome.kind === 'applied' && outcome.recordId !== undefined ? storable(outcome.recordId) : null,
    ),
    answers.map((one) => one.n),
    answers.map((one) => one.key.principal),
    answers.map((one) => one.key.key),
    answers.map((one) => one.status),
    answers.map((one) => JSON.stringify(one.body)),
    column((one) => one.mark),
  ];
}
