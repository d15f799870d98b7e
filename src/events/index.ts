import './problems.ts';
export { actAs, currentActor, type Actor } from './actor.ts';
export { auditRoutes } from './audit/routes.ts';
export { detailsOf, doneBefore } from './audit/store.ts';
export { eventKinds, eventTypes, sentenceOf, type EventType } from './event-kinds-schema.ts';
export { auditPartitions, createEventKeeper, eventPartitions } from './keeper.ts';
export { streamLimits } from './limits.ts';
export { assertReaches, confine, reaches, wholeProject, type Reach } from './reach.ts';
export { beforeAndAfter, eventsFrom, record, type Told } from './record.ts';
export { eventRoutes } from './routes.ts';
export { streamRoutes } from './stream/routes.ts';
export { createStreams, type Streams } from './stream/streams.ts';
export { eraseEvents } from './erase-store.ts';
export { createActivityKeeper } from './activity/keeper.ts';
export { countEnd, noDuration, quantile, type Counted } from './activity/series.ts';
export {
  countedColumns,
  countedEnds,
  grains,
  readActivity,
  type ActivityRow,
  type Grain,
} from './activity/store.ts';
export { findEvents } from './find-store.ts';
export { beginsWith, branch, searchKey, type Found, type Sought } from './found.ts';
