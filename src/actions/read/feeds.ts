import {
  effectiveReadObjects,
  targetIn,
  type EffectiveReadObject,
  type Target,
} from '../../installations/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { newId } from '../../kit/ids.ts';
import { hurryWork } from '../../lanes/index.ts';
import type { ReadDeps } from './prepare.ts';
import { nextRun } from './schedule.ts';
import {
  keepOnly,
  leaveFormerAccount,
  list,
  listStaleInstallations,
  noteBackfill,
  putInstallationBehind,
  takeStaleInstallation,
  timeOf,
  upsert,
  type FeedPlace,
  type LeftFeed,
  type WantedFeed,
} from './store/feeds.ts';
import { beginRun } from './store/runs.ts';

/** Installations that are followed before anything else is looked at. */
const atOnce = 20;
/** Notes that are looked through to find them: some are of one installation, and some are in the hands of other nodes. */
const notesAtOnce = 10 * atOnce;
const dayMs = 24 * 3_600_000;

type FeedDeps = Pick<ReadDeps, 'ground' | 'operations'>;

/**
 * Makes the feeds of installations that changed what config and manifest say now. One that cannot be followed keeps nobody from it: its
 * turn comes again behind the others. `failing`: of which the log tells already. Answers whether there may be more.
 */
export async function followChanges(deps: FeedDeps, failing = new Set<string>()): Promise<boolean> {
  const { database, log } = deps.ground;
  let followed = 0;
  for (const place of await listStaleInstallations(database, notesAtOnce)) {
    if (followed === atOnce) break;
    // An installation that was imported into another project has the same id there.
    const key = `${place.projectId} ${place.installationId}`;
    try {
      if (!(await followAlone(deps, place))) continue;
      followed += 1;
      failing.delete(key);
    } catch (error) {
      await putInstallationBehind(database, place);
      if (!failing.has(key))
        log.warn(
          { ...place, err: error },
          'what is read for an installation does not follow its config; it is tried again',
        );
      failing.add(key);
    }
  }
  return followed > 0;
}

/** In a transaction of its own; false where another node is at it. */
async function followAlone({ ground, operations }: FeedDeps, place: FeedPlace): Promise<boolean> {
  const lanes = await ground.database.transaction(async (tx) =>
    (await takeStaleInstallation(tx, place, { unlessHeld: true }))
      ? followInstallation(tx, place)
      : undefined,
  );
  for (const lane of new Set(lanes)) operations.announce(lane);
  return lanes !== undefined;
}

/** The same for one installation, at once, where its feeds may not be what they should. */
export async function followOne(tx: Queryable, place: FeedPlace): Promise<string[]> {
  return (await takeStaleInstallation(tx, place)) ? followInstallation(tx, place) : [];
}

/**
 * The history of a new feed begins with it, and that of one whose account is another. Answers with the lanes where something was queued. Config and manifest are read behind the
 * note of their change that was taken: nothing would tell of a change again that was not seen here.
 */
async function followInstallation(
  tx: Queryable,
  { projectId, installationId }: FeedPlace,
): Promise<string[]> {
  const place = { projectId, installationId };
  const target = await targetIn(tx, projectId, installationId);
  if (!target) {
    await keepOnly(tx, place, []);
    return [];
  }
  const { connectionId } = target;
  const objects = effectiveReadObjects(target);
  const now = await timeOf(tx);
  const wanted = objects.flatMap((object) => wantedFeeds(object, installationId, now));
  const left = await leaveFormerAccount(tx, place, connectionId);
  const dropped = await keepOnly(tx, place, wanted);
  const lanes = await endLeft(tx, projectId, left);
  const feeds = objects.length === 0 ? [] : await upsert(tx, target, wanted);
  for (const { objectName, kind, startedAt, isNew } of feeds) {
    const object = objects.find((one) => one.objectName === objectName);
    const isAnew = left.some((one) => one.object === objectName.toLowerCase() && one.kind === kind);
    if ((isNew || isAnew) && object && kind === 'records')
      lanes.push(...(await beginHistory(tx, target, object, startedAt)));
  }
  return (await wakeRuns(tx, target, dropped)) ? [...lanes, connectionId] : lanes;
}

/** Lets the runs of another connection end that lost their feeds. Answers with the lanes where some wait. */
async function endLeft(tx: Queryable, projectId: string, left: readonly LeftFeed[]): Promise<string[]> {
  const lanes: string[] = [];
  for (const [laneId, feeds] of Map.groupBy(left, (one) => one.laneId)) {
    const runs = feeds.flatMap(({ runId, backfillId }) => [runId ?? [], backfillId ?? []].flat());
    if (await hurryWork(tx, { projectId, laneId }, runs)) lanes.push(laneId);
  }
  return lanes;
}

/** Lets what rests look again whether it may go on, and what lost its feed end. Answers whether something does. */
export async function wakeRuns(
  tx: Queryable,
  { projectId, installationId, connectionId }: Target,
  dropped: readonly string[] = [],
): Promise<boolean> {
  const feeds = await list(tx, projectId, installationId);
  const named = feeds.flatMap(({ lastRunId, backfillId }) => [lastRunId ?? [], backfillId ?? []].flat());
  const runs = [...named, ...dropped];
  return runs.length > 0 && hurryWork(tx, { projectId, laneId: connectionId }, runs);
}

/**
 * What is not declared any more, or switched off, has no time at which it is due. Comparing begins at once: what changed
 * before cannot be told from what did not.
 */
export function wantedFeeds(
  { objectName, schedule, disabled, declared, associations }: EffectiveReadObject,
  installationId: string,
  now: number,
): WantedFeed[] {
  const isOff = disabled || !declared;
  const own = isOff ? undefined : schedule;
  const next = own === undefined ? undefined : nextRun({ schedule: own, installationId, objectName }, now);
  const common = { objectName, removed: !declared };
  const records = { ...common, kind: 'records', targets: '', schedule: own, nextRun: next } as const;
  if (associations?.schedule === undefined) return [records];
  const targets = associations.objects.map((name) => name.toLowerCase()).toSorted();
  const compared = {
    ...common,
    kind: 'associations',
    targets: targets.join(' '),
    schedule: isOff ? undefined : associations.schedule,
    nextRun: isOff ? undefined : { tickAt: now, dueAt: now },
  } as const;
  return [records, compared];
}

/** Everything until the feed began; what changes later is read by its schedule. */
async function beginHistory(
  tx: Queryable,
  { projectId, installationId, connectionId }: Target,
  { objectName, backfill, declared }: EffectiveReadObject,
  startedAt: number,
): Promise<string[]> {
  if (!backfill || !declared) return [];
  const id = newId();
  const since = backfill.days === undefined ? undefined : startedAt - backfill.days * dayMs;
  const place = { projectId, installationId };
  const range = { since, until: startedAt };
  const lane = await beginRun(tx, { ...place, connectionId, objectName, id, type: 'backfill', ...range });
  if (lane === undefined) return [];
  await noteBackfill(tx, place, objectName, id);
  return [lane];
}
