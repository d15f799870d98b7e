export { createOperations, type Operations } from './operations.ts';
export { findEarlierUse } from './keys.ts';
export { claimKeys, keyColumns } from './store/keys.ts';
export { beginOperations, endOperations, logLines, moveOperations } from './store/parts.ts';
export { storable, storableJson } from './store/text.ts';
export { turnKey } from './store/turn-key.ts';
export { createHousekeeping } from './housekeeping.ts';
export { ledgerKind, endsOf } from './ledger-kind.ts';
export { operationMetrics } from './outcomes.ts';
export type { AnswerOf, Performed, Send } from './perform.ts';
export { operationRoutes } from './routes.ts';
export type { BacklogRow } from './backlog.ts';
export type { WrittenOperation } from './read.ts';
export { isUnresolved } from './resolve.ts';
export type {
  EarlierUse,
  Intake,
  ItemResult,
  KeyClaim,
  RecordPayload,
  WorkHandler,
  WorkItem,
} from './work.ts';
