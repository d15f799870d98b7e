import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { LaneKey } from '../../lanes/index.ts';
import type { KeyClaim } from '../work.ts';

/** As if it had never been accepted: nothing of it was sent, and nobody was told of it. */
const withdrawParked = statement(
  'work_withdraw',
  `WITH gone AS (
    DELETE FROM work w WHERE w.project_id = $1 AND w.seq = $2 AND w.lease = $3 AND w.state IN (1, 2) RETURNING w.seq),
  turns AS (DELETE FROM turn t USING gone g WHERE t.project_id = $1 AND t.seq = g.seq),
  records AS (DELETE FROM record r USING gone WHERE r.project_id = $1 AND r.operation_id = $4),
  operations AS (DELETE FROM operation o USING gone WHERE o.project_id = $1 AND o.id = $4),
  keys AS (
    DELETE FROM idempotency d USING gone
    WHERE d.project_id = $1 AND d.principal = $5 AND d.key = $6 AND d.operation_id = $4)
  SELECT seq FROM gone`,
);

/** A write that was accepted under a node's lane and waits for its turn. */
export interface ParkedWrite {
  lane: LaneKey;
  seq: string;
  operationId: string;
  key?: KeyClaim | undefined;
}

/** Takes the acceptance of a write back that was not sent, with its idempotency key. False: it is in other hands by now. */
export async function withdraw(db: Queryable, parked: ParkedWrite): Promise<boolean> {
  const { lane, seq, operationId, key } = parked;
  const gone = await db.rows(withdrawParked, [
    lane.projectId,
    seq,
    lane.lease,
    operationId,
    key?.principal ?? null,
    key?.key ?? null,
  ]);
  return gone.length > 0;
}
