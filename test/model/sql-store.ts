import { newId } from '../../src/kit/ids.ts';
import type { Database } from '../../src/kit/db/database.ts';
import { claimDue } from '../../src/lanes/claim.ts';
import { insertGroup } from '../../src/operations/store/accept.ts';
import { rescue, take } from '../../src/operations/harness.fixture.ts';
import { hurry } from '../../src/lanes/store/hurry.ts';
import { extend, fold, giveBack } from '../../src/lanes/store/lanes.ts';
import { record } from '../../src/operations/store/record.ts';
import type { StoredOutcome } from '../../src/operations/settlement.ts';
import { leaseMs, type LedgerStore, type Stored } from './store.ts';

/** The statements themselves. Each history has a project and a lane of its own; what another one left is not touched. */
export function createSqlStore(database: Database): LedgerStore {
  // Ids rise: the projects after this one are this history's alone.
  const afterProject = newId();
  const projectId = newId();
  const laneId = newId();
  return {
    async accept(intake) {
      const operationId = newId();
      const payloads = intake.records.map((one) => JSON.stringify(one));
      await insertGroup(database, [{ ...intake, projectId, laneId, operationId, lease: null, payloads }]);
      return operationId;
    },
    async claim() {
      await fold(database);
      const claimed = await claimDue(database, { afterProject, limit: 1, leaseMs, lost: new Set() });
      const own = claimed.find(({ lane }) => lane.id === laneId);
      return own && { lane: own.lane, rescued: await rescue(database, [{ ...own.lane, room: 500 }]) };
    },
    take: (lane, room) => take(database, [{ ...lane, room }]),
    record: async (settlement) => (await record(database, [settlement]))[0] === true,
    extend: async (lane) => (await extend(database, [lane], leaseMs)).size > 0,
    giveBack: (lane, blockedMs) => giveBack(database, [{ ...lane, blockedMs }]),
    hurry: () => hurry(database, projectId, laneId),
    async moveClock(ms) {
      await database.raw(`UPDATE clock SET shift = shift + $1 * interval '1 millisecond'`, [ms]);
    },
    async stored() {
      const rows = await database.raw(
        `SELECT o.id, o.status, w.state, w.lease,
          (SELECT json_agg(r.outcome ORDER BY r.slot) FROM record r
            WHERE r.project_id = o.project_id AND r.operation_id = o.id) AS outcomes
        FROM operation o LEFT JOIN work w ON w.project_id = o.project_id AND w.ref = o.id
        WHERE o.project_id = $1 ORDER BY o.id`,
        [projectId],
      );
      return rows.map((row): Stored => {
        const outcomes = row['outcomes'] as (StoredOutcome | null)[];
        const work = { state: row['state'] as number, lease: row['lease'] as string | null };
        const stored: Stored = {
          operationId: row['id'] as string,
          status: row['status'] as Stored['status'],
          outcomes: outcomes.map((one) => one ?? undefined),
        };
        if (work.state !== null) stored.work = work;
        return stored;
      });
    },
  };
}
