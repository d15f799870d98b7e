export { writeHandler } from './perform.ts';
export { writeRoutes } from './routes.ts';
