import { openable } from '../../kit/db/openable.ts';

/**
 * Parts of a statement by which another room keeps the operations of its action together with what it works on. The statement
 * has a CTE `clock(now)`.
 */

/** For a source with project_id, id, integration_id, installation_id, config_id, request and resource. */
export const beginOperations = (action: string, source: string): string => `operations AS (
    INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource,
      status, total, created_at, updated_at)
    SELECT project_id, id, integration_id, installation_id, config_id, '${action}', request, resource,
      'in_progress', 0, now, now FROM (${source}) s, clock)`;

/**
 * After an attempt: for a source with project_id, id, status, result, errors, attempt, spent, due_at, and what there is of it by now: `total`, and
 * `details` (jsonb) that its request has under `detailed`.
 */
export const endOperations = (detailed: string, source: string): string => `operations AS (
    UPDATE operation o SET status = s.status, result = s.result, total = coalesce(s.total, o.total),
      request = CASE WHEN s.details IS NULL THEN o.request
        ELSE jsonb_set(o.request::jsonb, '{${detailed}}', (o.request::jsonb->'${detailed}') || s.details)::json END,
      errors = CASE WHEN s.spent OR s.status <> 'in_progress' THEN s.errors ELSE o.errors END, attempts = s.attempt,
      last_attempt_at = CASE WHEN s.spent THEN now ELSE o.last_attempt_at END, next_attempt_at = s.due_at, updated_at = now
    FROM clock, (${source}) s WHERE o.project_id = s.project_id AND o.id = s.id AND o.status = 'in_progress')`;

/**
 * What ended badly is found by it, what ended well but for some of its records (`partlyDone`), and what nobody has resolved (`unresolved`): for a
 * source with project_id, id, status and errors (JSON, or NULL).
 */
export const markOperations = (source: string): string => `marks AS (
    INSERT INTO operation_mark (project_id, mark, operation_id)
    SELECT s.project_id, m.mark, s.id FROM (${source}) s CROSS JOIN LATERAL (
      SELECT CASE s.status WHEN 'success' THEN 'partlyDone' ELSE s.status END AS mark
      UNION SELECT e->>'category' FROM json_array_elements(s.errors) e
      UNION SELECT 'unresolved' FROM json_array_elements(s.errors) e WHERE e->>'category' = 'unknownOutcome') m
    WHERE s.status <> 'in_progress' AND s.errors IS NOT NULL
    ON CONFLICT DO NOTHING)`;

/** What the record `r` is found by: the provider's id as it was answered, else as it was asked for. NULL without one. */
export const recordHash = (r: string): string =>
  `svc_record_hash(coalesce(${r}.record_id, ${openable(`${r}.payload`)}->>'id'))`;

/** Operations are found by the ids of their records: for a source with project_id, operation_id and hash, which may be NULL. */
export const rememberRecords = (source: string): string => `remembered AS (
    INSERT INTO written_record (project_id, hash, operation_id)
    SELECT DISTINCT s.project_id, s.hash, s.operation_id FROM ${source} s WHERE s.hash IS NOT NULL
    ON CONFLICT DO NOTHING)`;

/** Lines of their logs: for a source with project_id, operation_id, id, severity and message. */
export const logLines = (source: string): string => `logs AS (
    INSERT INTO operation_log (project_id, operation_id, id, severity, message, created_at)
    SELECT s.project_id, s.operation_id, s.id, s.severity, s.message, now FROM clock, (${source}) s)`;

/**
 * Records that reach, or finally miss, where they were to go: for a source with project_id, operation_id, succeeded and failed. Added to the
 * operation a moment later (`foldCounts`): what is delivered at once would wait there for one another.
 */
export const countParts = (source: string): string => `counted AS (
    INSERT INTO operation_delta (project_id, operation_id, succeeded, failed)
    SELECT project_id, operation_id, succeeded, failed FROM (${source}) s)`;
