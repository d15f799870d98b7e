export { callbackRoutes } from './callback-routes.ts';
export { createConnections, type Connections } from './connections.ts';
export type { Credential } from './credential.ts';
export type { Connection } from './present.ts';
export { connectionRoutes } from './routes.ts';
