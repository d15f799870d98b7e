export { createOperations, type Operations } from './operations.ts';
export { createWorker, type Worker } from './worker.ts';
export type { Performed } from './perform.ts';
export { operationRoutes } from './routes.ts';
export type { Intake, ItemResult, RecordPayload, WorkHandler, WorkItem } from './work.ts';
