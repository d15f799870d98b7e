/**
 * What names a marking among those under one lease: when the item was due, to the microsecond. Only what goes back becomes due again, and
 * later than it was: nothing changes `due_at` of what is marked.
 */
export const markOf = (row: string): string => `(extract(epoch FROM ${row}.due_at) * 1000000)::bigint`;

/** A work row `w` is still marked as it was; one that was accepted as started is so only once under its lease, and has no name. */
export const isMark = (mark: string): string => `(${mark} IS NULL OR ${mark} = ${markOf('w')})`;

/**
 * Parts of a statement that records the ends of attempts, so that a room records what became of its items together with
 * them. The statement has a CTE `clock(now)` and a CTE `input` with the columns project_id, seq, lease, mark, done, wait_ms, spent
 * and whatever else the room records; `kept` has them all of each item whose fence held, and `ref`, `lane_id`, `attempt` and
 * `due_at` (NULL when it is done) of its work row, `home_id` and `trace`. What was accepted in the lane of a node has the lane where it belongs,
 * and is returned there; the statement wakes that lane.
 */
export const recordParts = `finished AS (
    DELETE FROM work w USING input i
    WHERE i.done AND w.project_id = i.project_id AND w.seq = i.seq AND w.lease = i.lease AND ${isMark('i.mark')}
    RETURNING i.*, w.ref, coalesce(w.home_id, w.lane_id) AS lane_id, w.home_id, w.attempt, w.ordered,
      w.trace, NULL::timestamptz AS due_at),
  returned AS (
    UPDATE work w SET state = 0, lease = NULL, attempt = w.attempt - (NOT i.spent)::int, lane_id = coalesce(w.home_id, w.lane_id),
      due_at = (SELECT now FROM clock) + i.wait_ms * interval '1 millisecond'
    FROM input i WHERE NOT i.done AND w.project_id = i.project_id AND w.seq = i.seq AND w.lease = i.lease AND ${isMark('i.mark')}
    RETURNING i.*, w.ref, w.lane_id, w.home_id, w.attempt, w.ordered, w.trace, w.due_at),
  kept AS MATERIALIZED (SELECT * FROM finished UNION ALL SELECT * FROM returned),
  freed AS (
    DELETE FROM turn t USING finished f
    WHERE f.ordered AND t.project_id = f.project_id AND t.seq = f.seq)`;

/** A part of a statement that queues work: wakes the lanes of a source with project_id, lane_id and due_at. */
export const woken = (source: string): string => `INSERT INTO wake (project_id, lane_id, due_at)
    SELECT project_id, lane_id, min(due_at) FROM (${source}) w GROUP BY project_id, lane_id`;

/** A part that queues work of a kind: for each row of a source with n, project_id, ref, lane_id, prio, due_at, deadline and trace. */
export const queued = (kind: string, source: string): string => `works AS (
    INSERT INTO work (project_id, ref, lane_id, kind, prio, due_at, deadline, trace)
    SELECT project_id, ref, lane_id, '${kind}', prio, due_at, deadline, trace FROM (${source}) s ORDER BY n
    RETURNING project_id, lane_id, due_at),
  wakes AS (
    ${woken('SELECT project_id, lane_id, due_at FROM works')})`;

/** A part `fenced`: the rows of a CTE with project_id, seq and lease whose work is still held under that lease. */
export const fenced = (source: string): string => `fenced AS MATERIALIZED (
    SELECT i.* FROM ${source} i
    JOIN work w ON w.project_id = i.project_id AND w.seq = i.seq AND w.lease = i.lease
    FOR KEY SHARE OF w)`;

/** Of a source with project_id, id and lease: the lanes that are held under that lease, until the commit. */
export const heldLanesOf = (source: string): string => `SELECT l.* FROM (${source}) i
    CROSS JOIN LATERAL (
      SELECT l.id, l.lease FROM lane l
      WHERE l.project_id = i.project_id AND l.id = i.id AND l.lease = i.lease AND l.due_at > (SELECT now FROM clock)
      FOR KEY SHARE OF l) l`;

/** Of a source with project_id and id: the lanes of which nothing may start now. */
export const restingLanesOf = (source: string): string => `SELECT i.id FROM (${source}) i
    CROSS JOIN LATERAL (
      SELECT FROM lane l
      WHERE l.project_id = i.project_id AND l.id = i.id AND (l.paused OR l.not_before > (SELECT now FROM clock))) l`;
