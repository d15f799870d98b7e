import { declareProblems } from '../kit/problem-catalogue.ts';
import { kind, type ProblemKind } from '../kit/problem-kind.ts';

export const operationProblems = {
  'idempotency-key-in-flight': kind(
    409,
    'The first request with this key is still being done',
    'Send the same request again after `retryAfter`; it gets the answer of the first.',
    'A synchronous write with the same `Idempotency-Key` was accepted and has not ended. This request did nothing. It lasts until the lease of its node is over if that died, and up to some minutes while a create whose answer was lost is looked for: `operationId` tells how far it is.',
    true,
  ),
  'idempotency-key-reused': kind(
    422,
    'The key stands for another request',
    'Use a new `Idempotency-Key` for a new request; repeat a request byte for byte.',
    'The same caller sent this `Idempotency-Key` within the last 7 days with another method, path or body. This request did nothing; `operationId` names what the key stands for.',
  ),
  'operation-erased': kind(
    410,
    'The write was accepted, and what was kept of it is gone',
    'Do not write it again under a new key: look in the provider for what became of it.',
    'The `Idempotency-Key` stands for the write `operationId`, which was accepted. What became of it was erased since, or was kept as long as it is to be (`keepDays`). This request did nothing.',
  ),
  'operation-in-progress': kind(
    409,
    'The operation is in progress',
    'Wait until its status is `success` or `failure`.',
    'What became of its records is not settled yet, so they cannot be resolved or sent again by hand.',
    true,
  ),
  'record-busy': kind(
    409,
    'Earlier writes of the record are not done',
    'Send the same request again after `retryAfter`, or send it with `mode: "asynchronous"`: it is done when its turn comes.',
    'Writes of one record are done in the order in which they were accepted. A synchronous one waits 10 s for those before it: queued ones, or another synchronous one. They did not end in that time, so nothing was sent and nothing is kept of this request.',
    true,
  ),
  'outcome-known': kind(
    422,
    'The outcome of the record is known',
    'Resolve only records whose `resolution` is `unknown`: GET …/operations/{id}/records.',
    'A resolution says what became of a record of unknown outcome. This record has an outcome, or was resolved the other way before. Nothing was recorded.',
  ),
  'outcome-unresolved': kind(
    422,
    'The outcome of some records is unknown',
    'Look at the records in the provider and settle them first: POST …/operations/{id}:resolve.',
    'An operation is repeated with the records that are known not to have been done. Those of unknown outcome, named in `records` by their index, might be done twice. Nothing was sent.',
  ),
  'connection-changed': kind(
    409,
    'The installation has the connection of another account',
    'Send the records in a new write, with an `Idempotency-Key` of its own and with ids of the account that is connected now.',
    'What failed is written again as it was planned: ids of its records hold in the account that the installation was connected to then. It has another connection by now, which is not known to be of that account. Nothing was sent.',
  ),
  'nothing-to-retry': kind(
    422,
    'There is nothing to repeat',
    'Look at the outcomes: GET …/operations/{id}/records.',
    'No record of the operation failed or was resolved as `notApplied`, or it is not a write.',
  ),
} as const satisfies Record<string, ProblemKind>;

declareProblems(operationProblems);

declare module '../kit/problem-kind.ts' {
  interface DeclaredProblems {
    operationProblems: typeof operationProblems;
  }
}
