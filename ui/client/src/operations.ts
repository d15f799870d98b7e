import { answerOf, type CallOptions, type Calls } from './calls.ts';
import type {
  CanceledOperations,
  CancelOperationsRequest,
  Operation,
  OperationExchange,
  OperationLog,
  OperationRecord,
  operations,
  ResolvedRecords,
  ResolveOperationRequest,
  RetriedOperations,
  RetryOperationRequest,
  RetryOperationsRequest,
  WriteAccepted,
  WrittenRecord,
} from './generated/api.ts';
import { listOf, type List, type PageQuery } from './pages.ts';
import { pause } from './pause.ts';

type Query = NonNullable<operations['listOperationsForProject']['parameters']['query']>;

export interface Operations {
  get(operationId: string, options?: CallOptions): Promise<Operation>;
  /** The operation once it has ended, as `success` or `failure`; asks now and then, for as long as the signal lets it. */
  wait(operationId: string, options?: CallOptions): Promise<Operation>;
  /** Those of an installation, newest first. */
  list(
    of: { integration: string; installationId: string } & PageQuery,
    options?: CallOptions,
  ): List<Operation>;
  /** Of all installations; all that is asked for holds. Newest first, but what is `in_progress`, which comes in the order of its queue. */
  find(query?: Query, options?: CallOptions): List<Operation>;
  /** What became of each record of a write. */
  records(operationId: string, query?: PageQuery, options?: CallOptions): List<OperationRecord>;
  /** One of them, by its place in the request from 0, with what was asked to be written. */
  record(operationId: string, index: number, options?: CallOptions): Promise<WrittenRecord>;
  logs(operationId: string, options?: CallOptions): Promise<OperationLog[]>;
  /** What the provider was sent, and what it answered; oldest first. */
  exchanges(operationId: string, query?: PageQuery, options?: CallOptions): List<OperationExchange>;
  /** Says what became of records of unknown outcome. */
  resolve(
    operationId: string,
    request: ResolveOperationRequest,
    options?: CallOptions,
  ): Promise<ResolvedRecords>;
  /** Writes again what failed or was not applied, in a new operation; once, however often it is called. */
  retry(
    operationId: string,
    request?: NonNullable<RetryOperationRequest>,
    options?: CallOptions,
  ): Promise<WriteAccepted>;
  /** The same of those that a filter finds, 50 at the most: `pagination` of the answer says whether there are more. */
  retryMany(request: RetryOperationsRequest, options?: CallOptions): Promise<RetriedOperations>;
  /** Ends, unsent, what waits of those that a filter finds, 50 at the most. */
  cancelMany(request: CancelOperationsRequest, options?: CallOptions): Promise<CanceledOperations>;
}

const firstPauseMs = 200;
const longestPauseMs = 5_000;

const all = '/v1/projects/{projectIdOrName}/operations';
const one = '/v1/projects/{projectIdOrName}/operations/{operationId}';
const ofInstallation =
  '/v1/projects/{projectIdOrName}/integrations/{integrationId}/installations/{installationId}/operations';

export function operationsOf({ api, projectIdOrName }: Calls): Operations {
  const at = (operationId: string) => ({ path: { projectIdOrName, operationId } });
  const get = (operationId: string, options: CallOptions = {}) =>
    answerOf(api.GET(one, { params: at(operationId), ...options }));
  return {
    get,
    async wait(operationId, options = {}) {
      for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
        const operation = await get(operationId, options);
        if (operation.status !== 'in_progress') return operation;
        await pause(pauseMs, options.signal);
      }
    },
    list: ({ integration: integrationId, installationId, ...first }, options = {}) =>
      listOf((query) => {
        const path = { projectIdOrName, integrationId, installationId };
        return answerOf(api.GET(ofInstallation, { params: { path, query }, ...options }));
      }, first),
    find: ({ pageSize, pageToken, ...filter } = {}, options = {}) =>
      listOf(
        (page) => {
          const params = { path: { projectIdOrName }, query: { ...filter, ...page } };
          return answerOf(api.GET(all, { params, ...options }));
        },
        {
          ...(pageSize === undefined ? {} : { pageSize }),
          ...(pageToken === undefined ? {} : { pageToken }),
        },
      ),
    exchanges: (operationId, first = {}, options = {}) =>
      listOf((query) => {
        const params = { ...at(operationId), query };
        return answerOf(api.GET(`${one}/exchanges`, { params, ...options }));
      }, first),
    retryMany: (body, options = {}) =>
      answerOf(api.POST(`${all}:retry`, { params: { path: { projectIdOrName } }, body, ...options })),
    cancelMany: (body, options = {}) =>
      answerOf(api.POST(`${all}:cancel`, { params: { path: { projectIdOrName } }, body, ...options })),
    records: (operationId, first = {}, options = {}) =>
      listOf((query) => {
        const params = { ...at(operationId), query };
        return answerOf(api.GET(`${one}/records`, { params, ...options }));
      }, first),
    record: (operationId, index, options = {}) => {
      const params = { path: { projectIdOrName, operationId, index } };
      return answerOf(api.GET(`${one}/records/{index}`, { params, ...options }));
    },
    logs: (operationId, options = {}) =>
      answerOf(api.GET(`${one}/logs`, { params: at(operationId), ...options })),
    resolve: (operationId, body, options = {}) =>
      answerOf(api.POST(`${one}:resolve`, { params: at(operationId), body, ...options })),
    retry: (operationId, body = {}, options = {}) =>
      answerOf(api.POST(`${one}:retry`, { params: at(operationId), body, ...options })),
  };
}
