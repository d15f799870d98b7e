import { record as recordEvent } from '../../events/index.ts';
import { toldOf } from '../../installations/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { faultOf } from '../../kit/db/faults.ts';
import { createGroupCommit, groupSize } from '../../kit/group-commit.ts';
import { defineKind, type RegisteredKind } from '../../lanes/index.ts';
import type { ReadDeps } from './prepare.ts';
import { countRun } from './metrics.ts';
import { runRead, type KeepPage } from './run.ts';
import { endsOf, type RunningItem } from './run-end.ts';
import { record, type RunEnd } from './store/ends.ts';
import { keep, type Kept, type Page } from './store/pages.ts';
import { loadRunItems, type RunItem } from './store/runs.ts';

/** Runs of reads. One that was under way elsewhere goes on at its page. */
export function readKind(deps: ReadDeps): RegisteredKind {
  const { database, metrics } = deps.ground;
  const keepPage: KeepPage = createGroupCommit<Page, Kept | undefined>({
    commit: async (pages) => {
      const kept = await keep(database, pages);
      for (const [at, { projectId, operationId: id, groupRef }] of pages.entries())
        if (kept[at]) database.tell(projectId, { type: 'operation', id, status: 'in_progress', groupRef });
      return kept;
    },
    maxGroup: groupSize.bodies,
    maxWaiting: 1_000,
    bisectOn: (error) => faultOf(error) === 'data',
  });
  return defineKind<RunItem, RunEnd>({
    name: 'read',
    load: loadRunItems,
    run: async (item, context) =>
      isRunning(item) ? runRead(deps, keepPage, item, context) : { end: goneEnd(item) },
    rescued: 'again',
    unsent: (item, waitMs) =>
      isRunning(item)
        ? endsOf(item, { place: {}, pauseAfter: deps.settings.failuresUntilPause }).later(waitMs)
        : goneEnd(item),
    record: (_db, ends) => recordTold(deps, ends),
    recorded: (ends) => {
      deps.operations.ends.recorded(ends.filter(({ resource }) => resource !== ''));
      for (const end of ends) countRun(metrics, end);
    },
    less: (end) =>
      end.logs.length > 0 || end.errors.length > 0 ? { ...end, logs: [], errors: [] } : undefined,
    about: (of) => ({ projectId: of.projectId, operationId: 'ref' in of ? of.ref : of.operationId }),
  });
}

function isRunning(item: RunItem): item is RunningItem {
  return item.run !== undefined;
}

/** The work row of a run that has ended; nothing else is left to do. */
function goneEnd({ projectId, seq, lease, mark, ref, attempt }: RunItem): RunEnd {
  return {
    projectId,
    seq,
    lease,
    mark,
    operationId: ref,
    installationId: ref,
    actionType: 'read',
    resource: '',
    place: {},
    attempt,
    type: 'triggered',
    done: true,
    waitMs: 0,
    spent: false,
    status: 'failure',
    result: null,
    errors: [],
    failed: false,
    rests: false,
    pauseAfter: 0,
    excused: false,
    waits: false,
    range: { since: null, until: 0 },
    told: [],
    logs: [],
  };
}

/** Ends of which somebody is told are recorded together with what is told. */
async function recordTold({ ground }: ReadDeps, ends: readonly RunEnd[]): Promise<boolean[]> {
  if (!ends.some(mayTell)) return (await record(ground.database, ends)).map((one) => one !== undefined);
  const recorded = await ground.database.transaction(async (tx) => {
    const outcomes = await record(tx, ends);
    for (const [at, end] of ends.entries()) {
      const outcome = outcomes[at];
      if (outcome) await tell(tx, ground.publicUrl, end, outcome.paused);
    }
    return outcomes;
  });
  for (const [at, { projectId, place, installationId, resource: object, operationId }] of ends.entries())
    if (recorded[at]?.paused)
      ground.log.warn(
        { projectId, ...place, installationId, object, operationId },
        'a read was paused: its runs failed one after the other',
      );
  return recorded.map((one) => one !== undefined);
}

function mayTell({ done, type, status, waits }: RunEnd): boolean {
  const isByItself = type === 'scheduled' || type === 'associations';
  return waits || (done && (!isByItself || status !== 'success'));
}

async function tell(tx: Queryable, publicUrl: string, end: RunEnd, paused: boolean): Promise<void> {
  const { projectId, installationId, resource: objectName, operationId } = end;
  const type = eventOf(end, paused);
  if (!type) return;
  const more = { objectName, operationId, ...rangeOf(end), ...errorOf(end) };
  const told = await toldOf(tx, publicUrl, { projectId, id: installationId, type, more });
  await recordEvent(tx, { projectId, told });
}

type ReadEvent =
  | 'read.backfill.done'
  | 'read.backfill.error'
  | 'read.schedule.paused'
  | 'read.triggered.done'
  | 'read.triggered.error'
  | 'read.waiting';

function eventOf({ type, status, waits }: RunEnd, paused: boolean): ReadEvent | undefined {
  if (waits) return 'read.waiting';
  if (paused) return 'read.schedule.paused';
  if (type === 'triggered') return status === 'success' ? 'read.triggered.done' : 'read.triggered.error';
  if (type !== 'backfill') return undefined;
  return status === 'success' ? 'read.backfill.done' : 'read.backfill.error';
}

function rangeOf({ type, range: { since, until } }: RunEnd): Record<string, string> {
  if (type !== 'triggered') return {};
  const untilTimestamp = new Date(until).toISOString();
  return since === null
    ? { untilTimestamp }
    : { fromTimestamp: new Date(since).toISOString(), untilTimestamp };
}

function errorOf({ status, waits, result, logs }: RunEnd): { error?: string } {
  if (status === 'failure' && result !== null) return { error: result };
  return waits && logs[0] ? { error: logs[0].msg } : {};
}
