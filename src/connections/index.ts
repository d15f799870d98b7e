import './problems.ts';
export { addToQuota, type Caller, type Closure, type Quota, type QuotaNames } from './budget/index.ts';
export { createConnections, type Connections } from './connections.ts';
export { deadCredentials, takeBack, type Credential } from './credentials/index.ts';
export { callLimits } from './limits.ts';
export { connectionMetrics } from './metrics.ts';
export { callbackRoutes } from './oauth/index.ts';
export { isOfOneAccount, type Connection } from './present.ts';
export {
  areAllMoved,
  movedGroups,
  moveConnections,
  takeBackConnections,
  unendedGroups,
  untilRenewed,
} from './move-store.ts';
export { goOn, holdReplaced, openWindows, portableConnections, type Replaced } from './portable-store.ts';
export { connectionRoutes } from './routes.ts';
export { sealedConnectionColumns } from './sealed.ts';
export { eraseCustomers } from './erase-store.ts';
export { findMissingScopes } from './scopes-store.ts';
export { connectedProviders, countLapsedTokens } from './providers-store.ts';
export { closedBudgets, countBadConnections, findConnections } from './find-store.ts';
