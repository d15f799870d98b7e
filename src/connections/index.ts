import './problems.ts';
export { addToQuota, type Closure, type Quota, type QuotaNames } from './budget/index.ts';
export { createConnections, type Connections } from './connections.ts';
export type { Credential } from './credentials/index.ts';
export { connectionMetrics } from './metrics.ts';
export { callbackRoutes } from './oauth/index.ts';
export type { Connection } from './present.ts';
export { connectionRoutes } from './routes.ts';
export { sealedConnectionColumns } from './sealed.ts';
