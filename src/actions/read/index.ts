import './problems.ts';
export { readKind } from './kind.ts';
export { readMetrics } from './metrics.ts';
export type { ReadDeps } from './prepare.ts';
export { portableReads } from './portable-store.ts';
export { readRoutes, readStateRoutes, searchRoutes } from './routes.ts';
export { createScheduler } from './scheduler.ts';
export { eraseReadLinks } from './store/erase.ts';
export { countFailingReads, countPausedReads } from './find-store.ts';
