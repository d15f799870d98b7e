import type { Database, Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import { sleep } from '../kit/retry.ts';
import { handedDetail, handedStatus, nextAsOf } from './as-of.ts';
import { heldAgeMs } from './refresh/index.ts';

// What was renewed with the generation before is not stored any more. One that is being renewed now is waited for.
// The lease stays of one whose renewal ended without a word. A dead one is handed over, too, and says why it died: a file of where it is given new credentials brings them back here.
const mark = statement(
  'connections_move',
  `UPDATE connection SET moved_at = ${nextAsOf}, as_of = ${nextAsOf}, moved_dead = (status = 'bad_credentials'),
     status = 'bad_credentials', status_detail = CASE WHEN status = 'bad_credentials' THEN status_detail ELSE $2 END,
     generation = generation + 1, aside_generation = aside_generation + 1, updated_at = svc_now()
   WHERE project_id = $1 AND moved_at IS NULL AND (refresh_lease IS NULL OR refresh_lease_until < svc_now())
   RETURNING id`,
);
const open = statement(
  'connections_unmoved',
  `SELECT id FROM connection WHERE project_id = $1 AND moved_at IS NULL LIMIT 1`,
);
const remembered = statement(
  'connections_move_remembered',
  `SELECT greatest(0, least($2, coalesce(extract(epoch FROM max(moved_at) - svc_now()) * 1000 + $2, 0)))::int AS ms
   FROM connection WHERE project_id = $1 AND moved_at IS NOT NULL`,
);
const unmark = statement(
  'connections_move_back',
  `UPDATE connection SET moved_at = NULL, as_of = ${nextAsOf}, status = ${handedStatus()}, status_detail = ${handedDetail()},
     generation = generation + 1, aside_generation = aside_generation + 1, updated_at = svc_now()
   WHERE project_id = $1 AND moved_at IS NOT NULL RETURNING id`,
);
const moved = statement(
  'connections_moved',
  `SELECT group_ref FROM connection WHERE project_id = $1 AND moved_at IS NOT NULL ORDER BY group_ref, id`,
);
const unended = statement(
  'connections_moved_unended',
  `SELECT group_ref FROM connection WHERE project_id = $1 AND moved_at IS NOT NULL AND refresh_lease IS NOT NULL ORDER BY group_ref, id`,
);

const detail =
  'It was moved to another server by an export of the project, and nothing is sent with it here.';
/** A renewal takes no longer. */
const patienceMs = 30_000;
const pauseMs = 200;

/** Tries until no renewal is in the way; false when one takes too long. */
export async function untilRenewed(attempt: () => Promise<boolean>): Promise<boolean> {
  for (const giveUpAt = performance.now() + patienceMs; ;) {
    if (await attempt()) return true;
    if (performance.now() > giveUpAt) return false;
    await sleep(pauseMs);
  }
}

/**
 * Ends the use of all connections of a project here, so that where they are taken to alone renews their tokens. False when one is
 * still being renewed: those that were marked stay so until it is asked for again or undone.
 */
export async function moveConnections(database: Database, projectId: string): Promise<boolean> {
  const areMoved = await untilRenewed(async () => {
    await database.rows(mark, [projectId, detail]);
    return areAllMoved(database, projectId);
  });
  if (!areMoved) return false;
  // Until no node sends with what it remembers.
  const [left] = await database.rows<{ ms: number }>(remembered, [projectId, heldAgeMs]);
  await sleep(left?.ms ?? 0);
  return true;
}

/** Whether none is used here. */
export async function areAllMoved(database: Database, projectId: string): Promise<boolean> {
  return (await database.rows(open, [projectId])).length === 0;
}

/** Those that were moved are used here again. Answers their ids. */
export async function takeBackConnections(tx: Queryable, projectId: string): Promise<string[]> {
  return (await tx.rows<{ id: string }>(unmark, [projectId])).map(({ id }) => id);
}

/** The groups of those that are not used here, since they were moved; each as often as it has one. */
export async function movedGroups(database: Queryable, projectId: string): Promise<string[]> {
  const rows = await database.rows<{ group_ref: string }>(moved, [projectId]);
  return rows.map((row) => row.group_ref);
}

/** The groups of those that were moved while nobody knew the end of a renewal: its node went away, or lost the database. */
export async function unendedGroups(database: Queryable, projectId: string): Promise<string[]> {
  const rows = await database.rows<{ group_ref: string }>(unended, [projectId]);
  return rows.map((row) => row.group_ref);
}
