import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import { recordParts } from '../../lanes/index.ts';
import type { Settlement } from '../settlement.ts';
import { storable, storableJson } from './text.ts';

/**
 * Everything that the end of an attempt changes, for a group of items in one statement (docs/invariants.md, 10). An item whose
 * fence no longer holds changes nothing and is missing from the answer. The turn of a finished item passes on by a trigger
 * (`svc_pass_turn`). What a record is looked for by comes from one table (`outcomes`): of two, the plan for a small
 * partition takes the slot alone, and reads the whole index once it has grown.
 */
const recordGroup = statement(
  'work_record',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  input AS MATERIALIZED (
    SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::boolean[], $5::float8[], $6::boolean[], $7::text[],
      $8::text[], $9::json[], $10::int[], $11::int[], $12::int[]) WITH ORDINALITY
      AS i(project_id, seq, lease, done, wait_ms, spent, status, result, errors, succeeded, failed, unknown, n)),
  ${recordParts},
  outcomes AS MATERIALIZED (
    SELECT k.project_id, k.ref AS operation_id, x.slot, x.outcome, x.record_id
    FROM unnest($13::bigint[], $14::int[], $15::json[], $20::text[]) AS x(n, slot, outcome, record_id)
    JOIN kept k ON k.n = x.n),
  records AS (
    UPDATE record r SET outcome = x.outcome, record_id = x.record_id FROM outcomes x
    WHERE r.project_id = x.project_id AND r.operation_id = x.operation_id AND r.slot = x.slot),
  operations AS (
    UPDATE operation o SET status = k.status, result = k.result,
      errors = CASE WHEN k.done OR k.spent THEN k.errors ELSE o.errors END,
      succeeded = o.succeeded + k.succeeded, failed = o.failed + k.failed, unknown = o.unknown + k.unknown,
      attempts = k.attempt, last_attempt_at = CASE WHEN k.spent THEN now ELSE o.last_attempt_at END,
      next_attempt_at = k.due_at, updated_at = now
    FROM clock, kept k
    WHERE o.project_id = k.project_id AND o.id = k.ref),
  logs AS (
    INSERT INTO operation_log (project_id, operation_id, id, severity, message, created_at)
    SELECT k.project_id, k.ref, x.id, x.severity, x.message, now
    FROM clock, unnest($16::bigint[], $17::uuid[], $18::text[], $19::json[]) AS x(n, id, severity, message)
    JOIN kept k ON k.n = x.n),
  answers AS (
    UPDATE idempotency d SET status = x.status, response = x.response
    FROM unnest($21::bigint[], $22::text[], $23::text[], $24::smallint[], $25::json[]) AS x(n, principal, key, status, response)
    JOIN kept k ON k.n = x.n
    WHERE d.project_id = k.project_id AND d.principal = x.principal AND d.key = x.key AND d.operation_id = k.ref)
  SELECT n FROM kept`,
);

/** Records the ends of attempts; answers for each, in order, whether its fence held. */
export async function record(db: Queryable, settled: readonly Settlement[]): Promise<boolean[]> {
  const column = <T>(read: (settlement: Settlement) => T): T[] => settled.map(read);
  const outcomes = settled.flatMap(({ outcomes: list }, at) => list.map((one) => ({ n: at + 1, ...one })));
  const logs = settled.flatMap(({ log }, at) => (log ? [{ n: at + 1, ...log }] : []));
  const answers = settled.flatMap(({ answer }, at) => (answer ? [{ n: at + 1, ...answer }] : []));
  const kept = await db.rows<{ n: string }>(recordGroup, [
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
  ]);
  const held = new Set(kept.map((row) => Number(row.n)));
  return settled.map((_, at) => held.has(at + 1));
}
