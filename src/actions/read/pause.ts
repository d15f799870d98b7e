import { effectiveReadObjectNamed, type Target } from '../../installations/index.ts';
import { record } from '../../events/index.ts';
import { problem } from '../../kit/problem.ts';
import type { Principal } from '../../projects/index.ts';
import { followOne, wakeRuns } from './feeds.ts';
import type { ReadDeps } from './prepare.ts';
import { nextRun } from './schedule.ts';
import type { PauseOptions } from './schema.ts';
import { list, pause, timeOf, unpause, type FeedRow } from './store/feeds.ts';

export interface InstallationPlace {
  projectIdOrName: string;
  integrationId: string;
  installationId: string;
}

/** The installation that a path names, as the caller may see it. Throws installation-not-found. */
export async function targetAt(
  { projects, installations }: ReadDeps,
  principal: Principal,
  place: InstallationPlace,
): Promise<Target> {
  await installations.get(principal, place, place.installationId);
  const { projectId } = projects.confine(principal, place.projectIdOrName);
  const target = await installations.refreshTarget(projectId, place);
  if (!target) throw problem('installation-not-found', { detail: 'The installation was deleted.' });
  return target;
}

/** What comes by itself rests: no scheduled run begins, and what is under way stands at its page. */
export async function pauseReads(
  deps: ReadDeps,
  principal: Principal,
  place: InstallationPlace,
  { objects, note }: PauseOptions,
): Promise<void> {
  const target = await targetAt(deps, principal, place);
  const lanes = await deps.ground.database.transaction(async (tx) => {
    const begun = await followOne(tx, target);
    const feeds = feedsNamed(target, await list(tx, target.projectId, target.installationId), objects);
    const how = { as: objects ? ('object' as const) : ('installation' as const), note };
    const names = [...new Set(feeds.map(({ object }) => object))];
    const paused = await pause(tx, target, names, how);
    if (paused.length > 0) await audit(tx, target, 'paused', paused, note);
    return begun;
  });
  for (const lane of lanes) deps.operations.announce(lane);
}

export async function unpauseReads(
  deps: ReadDeps,
  principal: Principal,
  place: InstallationPlace,
  { objects, note }: PauseOptions,
): Promise<void> {
  const target = await targetAt(deps, principal, place);
  const { projectId, installationId } = target;
  const isWoken = await deps.ground.database.transaction(async (tx) => {
    const feeds = feedsNamed(target, await list(tx, projectId, installationId), objects);
    const now = await timeOf(tx);
    const due = feeds.map(({ object, kind, objectName, schedule }) => ({
      object,
      kind,
      schedule,
      nextRun: schedule === null ? undefined : nextRun({ schedule, installationId, objectName }, now),
    }));
    const resumed = await unpause(tx, target, due, note);
    if (resumed.length > 0) await audit(tx, target, 'unpaused', resumed, note);
    return wakeRuns(tx, target);
  });
  if (isWoken) deps.operations.announce(target.connectionId);
}

function audit(
  tx: Parameters<typeof record>[0],
  { projectId, installationId, groupRef }: Target,
  done: 'paused' | 'unpaused',
  objects: string[],
  note: string | undefined,
): Promise<void> {
  const details = { groupRef, objects, ...(note === undefined ? {} : { note }) };
  return record(tx, { projectId, action: `read.${done}`, targetId: installationId, details });
}

/** Those of the objects, or all. Throws object-not-in-config for a name that is none of them. */
function feedsNamed(
  target: Target,
  feeds: readonly FeedRow[],
  objects: readonly string[] | undefined,
): FeedRow[] {
  if (!objects) return [...feeds];
  return objects.flatMap((name) => {
    const named = effectiveReadObjectNamed(target, name)?.objectName ?? name;
    const found = feeds.filter(({ object }) => object === named.toLowerCase());
    if (found.length > 0) return found;
    throw problem('object-not-in-config', { detail: `The installation reads no object ${name}.` });
  });
}
