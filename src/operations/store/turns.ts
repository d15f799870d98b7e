import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { KeyClaim } from '../work.ts';
import { itsTurn, type LaneKey } from './lanes.ts';

/** Marks a parked write of a node's lane whose turn it is; also one that is marked already, whose answer was lost. */
const markParked = statement(
  'work_mark_parked',
  `WITH held AS MATERIALIZED (
    SELECT l.project_id, l.id, l.lease FROM lane l
    WHERE l.project_id = $1 AND l.id = $2 AND l.lease = $3 AND l.due_at > svc_now() FOR KEY SHARE OF l)
  UPDATE work w SET state = 1, attempt = 1 FROM held h
  WHERE w.project_id = $1 AND w.seq = $4 AND w.lane_id = h.id AND w.lease = h.lease AND w.state IN (1, 2) AND ${itsTurn}
  RETURNING w.seq`,
);

/** As if it had never been accepted: nothing of it was sent, and nobody was told of it. */
const withdrawParked = statement(
  'work_withdraw',
  `WITH gone AS (
    DELETE FROM work w WHERE w.project_id = $1 AND w.seq = $2 AND w.lease = $3 AND w.state IN (1, 2) RETURNING w.seq),
  turns AS (DELETE FROM turn t USING gone g WHERE t.project_id = $1 AND t.seq = g.seq),
  records AS (DELETE FROM record r USING gone WHERE r.project_id = $1 AND r.operation_id = $4),
  operations AS (DELETE FROM operation o USING gone WHERE o.project_id = $1 AND o.id = $4)
  DELETE FROM idempotency d USING gone
  WHERE d.project_id = $1 AND d.principal = $5 AND d.key = $6 AND d.operation_id = $4`,
);

/** A write that was accepted under a node's lane and waits for its turn. */
export interface ParkedWrite {
  lane: LaneKey;
  seq: string;
  operationId: string;
  key?: KeyClaim | undefined;
}

/** Marks it as started if its turn has come and its lane is still held; answers whether. */
export async function mark(db: Queryable, { lane, seq }: ParkedWrite): Promise<boolean> {
  return (await db.rows(markParked, [lane.projectId, lane.id, lane.lease, seq])).length > 0;
}

/** Takes the acceptance of a write back that was not sent, with its idempotency key. */
export async function withdraw(db: Queryable, parked: ParkedWrite): Promise<void> {
  const { lane, seq, operationId, key } = parked;
  await db.rows(withdrawParked, [
    lane.projectId,
    seq,
    lane.lease,
    operationId,
    key?.principal ?? null,
    key?.key ?? null,
  ]);
}
