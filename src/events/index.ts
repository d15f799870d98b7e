export { actAs, currentActor, type Actor } from './actor.ts';
export { createAuditKeeper } from './keeper.ts';
export { record } from './record.ts';
export { auditRoutes } from './routes.ts';
