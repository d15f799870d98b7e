import { wholeProject } from '../../events/index.ts';
import { effectiveReadObjectNamed, effectiveReadObjects, type Target } from '../../installations/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { problem } from '../../kit/problem.ts';
import type { Operation } from '../../operations/schema.ts';
import type { Principal } from '../../projects/index.ts';
import { followOne } from './feeds.ts';
import { targetAt, type InstallationPlace } from './pause.ts';
import type { ReadDeps } from './prepare.ts';
import type { BackfillProgress, ReadState, RunSummary } from './schema.ts';
import { statusOf } from './status.ts';
import { list, type FeedRow } from './store/feeds.ts';
import { readsOf, type ReadRow } from './store/states.ts';

/** How each object of an installation is read. */
export async function readStates(
  deps: ReadDeps,
  principal: Principal,
  place: InstallationPlace,
): Promise<ReadState[]> {
  const target = await targetAt(deps, principal, place);
  const { projectId, installationId } = target;
  const rows = await followed(deps, target, (tx) => readsOf(tx, projectId, installationId));
  const runs = await runsOf(deps, projectId, rows);
  return effectiveReadObjects(target).flatMap((asked) => {
    const row = rows.find(({ object }) => object === asked.objectName.toLowerCase());
    return row ? [stateOf(asked, row, runs)] : [];
  });
}

/** The feeds of an installation as they are now, also right after a change. */
async function followed<Row>(
  { ground, operations }: ReadDeps,
  target: Target,
  look: (tx: Queryable) => Promise<Row[]>,
): Promise<Row[]> {
  const { lanes, rows } = await ground.database.transaction(async (tx) => ({
    lanes: await followOne(tx, target),
    rows: await look(tx),
  }));
  for (const lane of lanes) operations.announce(lane);
  return rows;
}

/** The last runs and the histories of reads, by the id of their operation. */
export async function runsOf(
  { operations }: Pick<ReadDeps, 'operations'>,
  projectId: string,
  rows: readonly ReadRow[],
): Promise<ReadonlyMap<string, RunSummary>> {
  const feeds = rows.flatMap(({ records, associations }) => [records, associations ?? []].flat());
  const ids = feeds.flatMap(({ lastRunId, backfillId }) => [lastRunId ?? [], backfillId ?? []].flat());
  const found = ids.length === 0 ? [] : await operations.getAll(projectId, ids);
  return new Map(found.map((operation) => [operation.id, summaryOf(operation)]));
}

type Asked = ReturnType<typeof effectiveReadObjects>[number];

/** A read as it is asked for, and as its feeds and runs have it. Pure. */
export function stateOf(
  asked: Asked,
  { standing, records, associations }: ReadRow,
  runs: ReadonlyMap<string, RunSummary>,
): ReadState {
  const { objectName, deliveredAs, destination, disabled } = asked;
  const { schedule, watermark, nextAt, failures } = records;
  const lastRun = runs.get(records.lastRunId ?? '');
  const backfill = runs.get(records.backfillId ?? '');
  return {
    status: statusOf(standing, disabled),
    objectName,
    ...(deliveredAs === objectName ? {} : { mappedObjectName: deliveredAs }),
    ...(schedule === null ? {} : { schedule }),
    ...(destination === undefined ? {} : { destination }),
    disabled,
    ...pauseOf(records),
    watermark: watermark.toISOString(),
    ...(nextAt ? { nextRunTime: nextAt.toISOString() } : {}),
    failures,
    ...(lastRun ? { lastRun } : {}),
    ...(backfill ? { backfill } : {}),
    ...associationsOf(asked, associations, runs),
  };
}

function pauseOf({ paused, pausedAt, note }: FeedRow): Pick<ReadState, 'paused'> {
  if (!paused || !pausedAt) return {};
  return { paused: { reason: paused, since: pausedAt.toISOString(), ...(note === null ? {} : { note }) } };
}

/** Of what records are associated with; `feed` is missing where that is not compared. */
function associationsOf(
  { associations }: Asked,
  feed: FeedRow | undefined,
  runs: ReadonlyMap<string, RunSummary>,
): Pick<ReadState, 'associations'> {
  if (!associations) return {};
  const objects = [...associations.objects];
  if (!feed) return { associations: { objects } };
  const { schedule, nextAt, failures } = feed;
  const lastRun = runs.get(feed.lastRunId ?? '');
  return {
    associations: {
      objects,
      ...(schedule === null ? {} : { schedule }),
      ...pauseOf(feed),
      ...(nextAt ? { nextRunTime: nextAt.toISOString() } : {}),
      failures,
      ...(lastRun ? { lastRun } : {}),
    },
  };
}

function operationOf({ operations }: ReadDeps, { projectId }: Target, id: string): Promise<Operation> {
  return operations.get(wholeProject(projectId), id);
}

function summaryOf({ id, status, createTime, metadata: { read, progress } }: Operation): RunSummary {
  return {
    operationId: id,
    status,
    recordsProcessed: progress?.recordsProcessed ?? 0,
    emitted: read?.emitted ?? 0,
    delivered: read?.delivered ?? 0,
    createTime,
  };
}

/** How far the history of an object is. Throws not-found where there is none. */
export async function backfillProgress(
  deps: ReadDeps,
  principal: Principal,
  { objectName, ...place }: InstallationPlace & { objectName: string },
): Promise<BackfillProgress> {
  const target = await targetAt(deps, principal, place);
  const asked = effectiveReadObjectNamed(target, objectName);
  const own = asked?.objectName.toLowerCase();
  const { projectId, installationId } = target;
  const feeds = await followed(deps, target, (tx) => list(tx, projectId, installationId));
  const feed = feeds.find(({ object, kind }) => object === own && kind === 'records');
  if (!feed?.backfillId) throw problem('not-found', { detail: `There is no backfill of ${objectName}.` });
  return progressOf(await operationOf(deps, target, feed.backfillId));
}

/** At its pace so far: as many records take as long again. Pure. */
export function progressOf(operation: Operation): BackfillProgress {
  const { id, installationId, resource, status, createTime, updateTime, metadata } = operation;
  const { recordsProcessed = 0, recordsEstimatedTotal: total } = metadata.progress ?? {};
  const tookMs = Date.parse(updateTime) - Date.parse(createTime);
  const left = Math.max(0, (total ?? 0) - recordsProcessed);
  const isKnown = status === 'in_progress' && total !== undefined && recordsProcessed > 0;
  const endsAt = new Date(Date.parse(updateTime) + (tookMs * left) / Math.max(1, recordsProcessed));
  return {
    installationId,
    objectName: resource,
    operationId: id,
    recordsProcessed,
    ...(total === undefined ? {} : { recordsEstimatedTotal: total }),
    status,
    ...(isKnown ? { expectedEndTime: endsAt.toISOString() } : {}),
    createTime,
    updateTime,
  };
}
