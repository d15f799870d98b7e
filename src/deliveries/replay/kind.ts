import type { Ground } from '../../kit/ground.ts';
import type { Kind, Marked, Ran } from '../../lanes/index.ts';
import type { KnownDestinations } from '../known.ts';
import type { ReplayEnd, Step } from './step.ts';
import { sliceOf } from './slice.ts';
import { goneReason, loadReplays, recordReplays, walk, type ReplayRow } from './store.ts';

interface ReplayItem extends Marked {
  replay: (ReplayRow & { backlog: number }) | undefined;
}

/** Messages that one step looks at. */
const stepSize = 1_000;
/** No step is made while so many deliveries of replays wait at the destination. */
const mostWaiting = 2_000;
const restMs = 5_000;
/** After the first half of what it queued, and before the second. */
const nextStepMs = 1;

interface ReplayDeps {
  ground: Pick<Ground, 'database'>;
  known: Pick<KnownDestinations, 'find'>;
  announce: (destinationId: string) => void;
  isRecordsOnly: (type: string) => boolean;
}

/**
 * The work of queueing a replay. It stands in the lane of its destination, behind the deliveries that it queued: so the next step
 * is made when these are on their way, and a lane that is paused or rests makes none.
 */
export function replayKind(deps: ReplayDeps): Kind<ReplayItem, ReplayEnd> {
  return {
    name: 'replay',
    async load(db, marked) {
      const replays = await loadReplays(db, marked, mostWaiting);
      return marked.map((item, at) => Object.assign({ replay: replays.get(at) }, item));
    },
    run: (item) => queueSome(deps, item),
    rescued: 'again',
    unsent: (item, waitMs) => ({ ...baseOf(item), done: false, waitMs }),
    record: recordReplays,
    recorded(ends) {
      for (const { step, destinationId } of ends)
        if (step && step.messages.length > 0) deps.announce(destinationId);
    },
    about: (of) => ({
      projectId: of.projectId,
      replayId: 'replayId' in of ? of.replayId : of.ref,
      destinationId: 'destinationId' in of ? of.destinationId : of.laneId,
    }),
  };
}

async function queueSome(
  { ground, known, isRecordsOnly }: ReplayDeps,
  item: ReplayItem,
): Promise<Ran<ReplayEnd>> {
  const { replay, projectId, laneId } = item;
  const end = (step: Step | undefined, waitMs?: number): Ran<ReplayEnd> => ({
    end: { ...baseOf(item), done: waitMs === undefined, waitMs: waitMs ?? 0, step },
  });
  if (replay?.status !== 'queueing') return end(undefined);
  if (replay.backlog >= mostWaiting) return end(undefined, restMs);
  // With the database away this throws, and the step is made by whoever has the lane next.
  const target = await known.find(projectId, laneId);
  if (!target)
    return end({
      place: undefined,
      status: 'canceled',
      reason: goneReason,
      messages: [],
    });
  const { last, scanned, ids } = await walk(
    ground.database,
    sliceOf(replay, isRecordsOnly(target.type)),
    stepSize,
  );
  const isLast = scanned < stepSize;
  const step: Step = {
    place: last ?? undefined,
    status: isLast ? 'queued' : 'queueing',
    messages: ids,
  };
  if (isLast) return end(step);
  return end(step, ids.length > 0 ? nextStepMs : 0);
}

function baseOf({ projectId, seq, lease, mark, ref, laneId }: Marked) {
  return {
    projectId,
    seq,
    lease,
    mark,
    replayId: ref,
    destinationId: laneId,
    // Steps are no attempts.
    spent: false,
    step: undefined,
  };
}
