import { crashPoint } from '../kit/crash-point.ts';
import type { Database } from '../kit/db/database.ts';
import { faultOf, isDatabaseAway, isTaken, isUnreached } from '../kit/db/faults.ts';
import { pauseBriefly, repeatWhileAway } from '../kit/db/lost-commit.ts';
import { createIntakeCommit } from '../kit/group-commit.ts';
import { newId } from '../kit/ids.ts';
import { currentTrace, inSpan } from '../kit/trace.ts';
import { createDoubts, doubtOf, explained, explainedUnsent, failsAll } from './doubt.ts';
import { findEarlierUse } from './keys.ts';
import { findAccepted, insertGroup, parked, type AcceptRow } from './store/accept.ts';
import type { EarlierUse, Intake } from './work.ts';

/**
 * The work row of something accepted; `waits`: it is parked behind another of its record. Undefined when the node's lane was
 * lost and nothing was inserted. `earlier`: the key of the intake stands for this operation, and nothing was inserted. `isOthers`: another
 * node has it by now, and may send it.
 */
export type Accepted =
  | { operationId: string; seq: string; waits?: boolean; earlier?: EarlierUse; isOthers?: true }
  | undefined;

export interface Acceptor {
  /**
   * Resolves after the commit. `lease` marks the work as started under a node's lane; null queues it. Throws
   * as `findEarlierUse` does when the key of the intake stands for another request, or for what is gone; `database-unavailable`, or `outcome-unknown`
   * where the work may be sent later and no key finds it.
   */
  accept: (intake: Intake, lease: string | null, operationId?: string) => Promise<Accepted>;
  drain(): Promise<void>;
}

/**
 * A commit whose answer was lost is looked for and repeated for this long, on a silent wire once; then its callers are told that
 * it is in doubt.
 */
const recoverForMs = 3_000;

/** Accepts through group commit: the statement of a group is one autocommit transaction (docs/invariants.md, 10). */
export function createAcceptor(
  database: Database,
  /** Called after each commit, with what was accepted. */
  onAccepted: (rows: readonly AcceptRow[]) => void = () => undefined,
): Acceptor {
  const group = createIntakeCommit<AcceptRow, Accepted>({
    commit: async (rows: readonly AcceptRow[]): Promise<Accepted[]> => {
      const inserted = await insertGroup(database, rows);
      crashPoint('after-accept');
      onAccepted(rows.filter(({ operationId }) => inserted.has(operationId)));
      return rows.map((row) => answer(row, inserted));
    },
    weigh: ({ payloads }) => payloads.reduce((length, payload) => length + payload.length, 0),
    bisectOn: (error) => faultOf(error) === 'data',
    // Each of them would wait as long again to be told the same.
    failsAll,
    recover: (rows, error) => recover(database, rows, error),
  });
  return {
    async accept(intake, lease, operationId = newId()) {
      if (intake.records.length === 0) throw new Error('an operation needs at least one record');
      const payloads = intake.records.map((record) => JSON.stringify(record));
      const row = { ...intake, operationId, lease, payloads, trace: currentTrace() };
      const isSentLater = lease === null || row.mayRepeat === true;
      const submit = (): Promise<Accepted> =>
        group.submit(row).catch((error: unknown) => {
          throw isSentLater ? explained(error, operationId, row.key) : explainedUnsent(error, row.key);
        });
      const accepted = await inSpan({ name: 'accept', kind: 'internal' }, submit);
      if (accepted?.isOthers) throw explained(doubtOf(operationId), operationId, row.key);
      if (accepted || !row.key) return accepted;
      const earlier = await findEarlierUse(database, row.projectId, row.key);
      // Without an earlier use the key is free again, or the lane was lost; in the second case this comes to nothing, too.
      return earlier ? { operationId: earlier.operationId, seq: '', earlier } : submit();
    },
    drain: () => group.drain(),
  };
}

function answer(row: AcceptRow, found: Map<string, { seq: string; state: number }>): Accepted {
  const accepted = found.get(row.operationId);
  if (!accepted) return undefined;
  // Found again, but rescued meanwhile: as good as not accepted, since nothing was sent and, unless it may be repeated, will be.
  if (row.lease !== null && accepted.seq === '')
    return row.mayRepeat ? { operationId: row.operationId, seq: '', isOthers: true } : undefined;
  return { operationId: row.operationId, seq: accepted.seq, waits: accepted.state === parked };
}

/**
 * The answer to a commit was lost. What is there was committed; what is not is inserted again under the same ids, which
 * fails, and is looked for again, if the first statement was still on its way. Throws {@link InDoubt} when it stays open.
 */
async function recover(database: Database, rows: readonly AcceptRow[], error: unknown): Promise<Accepted[]> {
  // Nothing was sent, so there is nothing to look for: whoever waits is told at once.
  if (isUnreached(error)) throw error;
  if (!mayHaveCommitted(error)) throw error;
  const doubts = createDoubts();
  const note = (failed: unknown): void => {
    for (const { operationId } of rows) doubts.note(failed, operationId, operationId);
  };
  const insert = (missing: readonly AcceptRow[]): ReturnType<typeof insertGroup> =>
    insertGroup(database, missing).catch((failed: unknown) => {
      note(failed);
      throw failed;
    });
  note(error);
  const look = async (): Promise<Accepted[]> => {
    const found = await findAccepted(database, rows);
    const missing = rows.filter((row) => !found.has(row.operationId));
    const inserted = missing.length > 0 ? await insert(missing) : new Map<string, never>();
    // The first statement may have ended meanwhile; then a key stands for its own row.
    const keyed = missing.filter((row) => row.key && !inserted.has(row.operationId));
    const own = keyed.length > 0 ? await findAccepted(database, keyed) : new Map<string, never>();
    return rows.map((row) => answer(row, new Map([...found, ...inserted, ...own])));
  };
  const endsAt = performance.now() + recoverForMs;
  await pauseBriefly();
  // Whatever keeps it from looking says nothing of what was sent before.
  return repeatWhileAway(endsAt, look, () => true).catch((last: unknown) => {
    throw doubts.of(last);
  });
}

/** Taken: the first statement was on its way after all. */
function mayHaveCommitted(error: unknown): boolean {
  return isDatabaseAway(error) || isTaken(error);
}
