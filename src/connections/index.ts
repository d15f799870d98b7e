export type { Closure } from './budget/budget.ts';
export { addToQuota, type Quota, type QuotaNames } from './budget/rules.ts';
export { callbackRoutes } from './oauth/callback-routes.ts';
export { createConnections, type Connections } from './connections.ts';
export type { Credential } from './credentials/credential.ts';
export type { Connection } from './present.ts';
export { eventRoutes } from './events/routes.ts';
export { sealedConnectionColumns } from './sealed.ts';
export { connectionRoutes } from './routes.ts';
