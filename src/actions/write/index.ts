import './problems.ts';
export { createBatchKeeper } from './auto-batch/keeper.ts';
export { writeKind } from './kind.ts';
export { doubtWrites, type Doubted } from './restored.ts';
export { writeLimits } from './limits.ts';
export { retryManyRoutes } from './retry-many.ts';
export { retryRoutes } from './retry.ts';
export { writeRoutes } from './routes.ts';
export { createWrites, type Writes } from './writes.ts';
