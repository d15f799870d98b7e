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
  list,
  noteBackfill,
  takeStaleInstallation,
  takeStaleInstallations,
  timeOf,
  upsert,
  type FeedPlace,
  type WantedFeed,
} from './store/feeds.ts';
import { beginRun } from './store/runs.ts';

/** Installations that are looked at in one transaction. */
const atOnce = 20;
const dayMs = 24 * 3_600_000;

type FeedDeps = Pick<ReadDeps, 'ground' | 'operations'>;

/** Makes the feeds of installations that changed what config and manifest say now. Answers whether there may be more. */
export async function followChanges(deps: FeedDeps): Promise<boolean> {
  const { ground, operations } = deps;
  const lanes = new Set<string>();
  const count = await ground.database.transaction(async (tx) => {
    const stale = await takeStaleInstallations(tx, atOnce);
    for (const place of stale) {
      for (const lane of await followInstallation(tx, place)) lanes.add(lane);
    }
    return stale.length;
  });
  for (const lane of lanes) operations.announce(lane);
  return count > 0;
}

/** The same for one installation, at once, where its feeds may not be what they should. */
export async function followOne(tx: Queryable, place: FeedPlace): Promise<string[]> {
  return (await takeStaleInstallation(tx, place)) ? followInstallation(tx, place) : [];
}

/**
 * The history of a new feed begins with it. Answers with the lanes where something was queued. Config and manifest are read behind the
 * note of their change that was taken: nothing would tell of a change again that was not seen here.
 */
async function followInstallation(
  tx: Queryable,
  { projectId, installationId }: FeedPlace,
): Promise<string[]> {
  const place = { projectId, installationId };
  const target = await targetIn(tx, projectId, installationId);
  const objects = target ? effectiveReadObjects(target) : [];
  const now = await timeOf(tx);
  const wanted = objects.flatMap((object) => wantedFeeds(object, installationId, now));
  const dropped = await keepOnly(tx, place, wanted);
  const lanes: string[] = [];
  const feeds = objects.length === 0 ? [] : await upsert(tx, place, wanted);
  for (const { objectName, kind, startedAt, isNew } of feeds) {
    const object = objects.find((one) => one.objectName === objectName);
    if (isNew && object && kind === 'records')
      lanes.push(...(await beginHistory(tx, place, object, startedAt)));
  }
  return target && (await wakeRuns(tx, target, dropped)) ? [...lanes, target.connectionId] : lanes;
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
  place: FeedPlace,
  { objectName, backfill, declared }: EffectiveReadObject,
  startedAt: number,
): Promise<string[]> {
  if (!backfill || !declared) return [];
  const id = newId();
  const since = backfill.days === undefined ? undefined : startedAt - backfill.days * dayMs;
  const lane = await beginRun(tx, { ...place, objectName, id, type: 'backfill', since, until: startedAt });
  if (lane === undefined) return [];
  await noteBackfill(tx, place, objectName, id);
  return [lane];
}
