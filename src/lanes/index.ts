export { createBytes, type Bytes } from './bytes.ts';
export { contextOf } from './context.ts';
export { createAnnouncer } from './hints.ts';
export { defineKind, type RegisteredKind } from './jobs.ts';
export type { End, Gathers, Heard, Kind, Marked, Ran, WorkContext } from './kind.ts';
export { createNodeLanes, type NodeLane, type NodeLanes } from './node-lane.ts';
export type { Share } from './pool.ts';
export { createRecorder, type Recorder } from './recorder.ts';
export { hurry, hurryAll, hurryWork } from './store/hurry.ts';
export {
  firstProject,
  gathering,
  markedOrParked,
  pause,
  rest,
  unseenSeconds,
  type LaneKey,
} from './store/lanes.ts';
export { fenced, heldLanesOf, queued, recordParts, restingLanesOf, woken } from './store/record-parts.ts';
export { doubt, findStray, findWaiting, markInTurn, putBack, unpark, withhold } from './store/work.ts';
export { createWorker, type Worker } from './worker.ts';
