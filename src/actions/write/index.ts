export { writeHandler } from './perform.ts';
export { retryRoutes } from './retry.ts';
export { writeRoutes } from './routes.ts';
