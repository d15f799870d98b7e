export { createEraser } from './erasures.ts';
export type { History } from './history.ts';
export { createRetention, type Retention } from './retention.ts';
export { retentionRoutes } from './routes.ts';
