import { countFailingReads, countPausedReads } from '../actions/read/index.ts';
import { closedBudgets, countBadConnections } from '../connections/index.ts';
import { countDead, countDestinations } from '../deliveries/index.ts';
import { readActivity } from '../events/index.ts';
import { countUnhealthy } from '../installations/index.ts';
import type { Database } from '../kit/db/database.ts';
import { countMarked, oldestQueued } from '../operations/index.ts';
import { activityOf, stepsOf } from './activity.ts';
import type { Attention, Overview, ranges } from './schema.ts';

const mostCounted = 1_000;
const mostBudgets = 20;
/** Older ones were looked at, or are nobody's concern any more. */
const unknownDays = 30;

/** What needs somebody, and how it went: from indexes and counts, however much there is. */
export async function overview(
  database: Database,
  projectId: string,
  range: (typeof ranges)[number],
): Promise<Overview> {
  const { grain, steps } = stepsOf[range];
  const [attention, oldest, budgets, { now, rows }] = await Promise.all([
    attentionOf(database, projectId),
    oldestQueued(database, projectId),
    closedBudgets(database, projectId, mostBudgets),
    readActivity(database, projectId, grain, steps),
  ]);
  return {
    attention,
    ...(oldest ? { oldestQueuedWrite: oldest } : {}),
    closedBudgets: budgets.map((one) => Object.assign(one, { closedUntil: one.closedUntil.toISOString() })),
    activity: activityOf(range, now, rows),
  };
}

/** The worst first. Each names the filter of the list that shows it. */
async function attentionOf(database: Database, projectId: string): Promise<Attention[]> {
  const unknown = { mark: 'unresolved', days: unknownDays, most: mostCounted };
  const since = new Date(Date.now() - unknownDays * 24 * 3_600_000).toISOString();
  const counted: [Attention['kind'], Promise<number>, Attention['filter']][] = [
    ['unknownOutcomes', countMarked(database, projectId, unknown), { unresolved: 'true', from: since }],
    ['badConnections', countBadConnections(database, projectId, mostCounted), { status: 'bad_credentials' }],
    ['unhealthyInstallations', countUnhealthy(database, projectId), { healthStatus: 'unhealthy' }],
    ['deadLetters', countDead(database, projectId, mostCounted), { status: 'failed' }],
    ['disabledDestinations', countDestinations(database, projectId, 'disabled'), { state: 'disabled' }],
    ['failingDestinations', countDestinations(database, projectId, 'failing'), { state: 'failing' }],
    ['failingReads', countFailingReads(database, projectId, mostCounted), { status: 'failing' }],
    ['pausedReads', countPausedReads(database, projectId, mostCounted), { status: 'paused' }],
  ];
  const all = await Promise.all(
    counted.map(async ([kind, count, filter]) => ({ kind, count: await count, filter })),
  );
  return all.filter(({ count }) => count > 0);
}
