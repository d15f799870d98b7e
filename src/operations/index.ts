export { createOperations, type Operations } from './operations.ts';
export { createWorker, type Worker } from './worker.ts';
export type { AnswerOf, Performed, Send } from './perform.ts';
export { operationRoutes } from './routes.ts';
export type { BacklogRow } from './backlog.ts';
export type { WrittenOperation } from './read.ts';
export { isUnresolved } from './resolve.ts';
export type {
  EarlierUse,
  Heard,
  Intake,
  ItemResult,
  KeyClaim,
  RecordPayload,
  WorkContext,
  WorkHandler,
  WorkItem,
} from './work.ts';
