import './problems.ts';
export { createOperations, type Operations } from './operations.ts';
export { exchangePartitions } from './exchanges/exchange-log.ts';
export { eraseExchanges } from './exchanges/store.ts';
export { createDoubts, explained, failsAll, type Doubts } from './doubt.ts';
export { endsOf, type Ends } from './ends.ts';
export { erased, findEarlierUse } from './keys.ts';
export { claimKeys, keyColumns, release } from './store/keys.ts';
export { load, withPayloads } from './store/load.ts';
export { beginOperations, countParts, endOperations, logLines, markOperations } from './store/parts.ts';
export { nothingNow, toldType, type TellNow, type TellOffer, type ToldMessage } from './tell-now.ts';
export { turnKey } from './store/turn-key.ts';
export { withdraw, type ParkedWrite } from './store/turns.ts';
export { findCreatedElsewhere } from './store/written.ts';
export { createHousekeeping, historyPartitions, keepHistory } from './housekeeping.ts';
export { operationMetrics } from './outcomes.ts';
export { operationRoutes } from './routes.ts';
export type { BacklogRow } from './backlog.ts';
export { createReader, type WrittenOperation } from './read.ts';
export { isNotDone, isUnresolved, outcomeNow } from './resolve.ts';
export { countedOf, type Ended, type LogEntry, type Settlement, type StoredOutcome } from './settlement.ts';
export {
  placeOf,
  type Place,
  type Answer,
  type EarlierUse,
  type Intake,
  type KeyClaim,
  type OperationError,
  type RecordPayload,
  type Tally,
  type WorkItem,
} from './work.ts';
export { eraseOperations } from './store/erase.ts';
export { countMarked, findOperations, oldestQueued } from './find-store.ts';
