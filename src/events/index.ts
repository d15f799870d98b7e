export { actAs, currentActor, type Actor } from './actor.ts';
export { auditRoutes } from './audit/routes.ts';
export { eventKinds, eventTypes, sentenceOf, type EventType } from './event-kinds-schema.ts';
export { auditPartitions, createEventKeeper, eventPartitions } from './keeper.ts';
export { assertReaches, confine, reaches, wholeProject, type Reach } from './reach.ts';
export { eventsFrom, record, type Told } from './record.ts';
export { eventRoutes } from './routes.ts';
export { eraseEvents } from './erase-store.ts';
