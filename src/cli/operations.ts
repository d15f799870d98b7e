import type { Operation, OperationRecord } from '../../ui/client/src/index.ts';
import type { actionTypes } from '../operations/words-schema.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { exitCodes, Failure } from './failure.ts';
import { filterOf, type FilterOptions } from './operation-filter.ts';
import { manyOperations, type ManyOptions } from './operations-many.ts';
import { counted, say } from './output.ts';
import { pageSizeOf, sayList, type ListOptions } from './rows.ts';

interface OperationsOptions extends ListOptions, FilterOptions {
  action?: (typeof actionTypes)[number];
  unresolved?: boolean;
}

/** `svc operations list`: those that are asked for, newest first. */
export async function listOperations(options: OperationsOptions): Promise<void> {
  const { action, unresolved } = options;
  const list = (await connect(options)).operations.find({
    ...filterOf(options),
    ...(action === undefined ? {} : { actionType: action }),
    ...(unresolved ? { unresolved } : {}),
    ...pageSizeOf(options),
  });
  await sayList(options, list, {
    id: ({ id }) => id,
    made: ({ createTime }) => createTime,
    what: ({ actionType, resource }) => `${actionType} ${resource}`,
    status: ({ status }) => status,
    result: ({ result }) => result,
  });
}

/** `svc operations get`. */
export async function getOperation(id: string, options: ConnectionOptions): Promise<void> {
  const operation = await (await connect(options)).operations.get(id);
  say(options, operation, wholeOf(operation));
}

/** `svc operations watch`: waits for the end. Fails when the operation did. */
export async function watchOperation(
  id: string,
  options: ConnectionOptions & { timeout?: number },
): Promise<void> {
  const svc = await connect(options);
  const signal = options.timeout === undefined ? undefined : AbortSignal.timeout(options.timeout * 1_000);
  const operation = await svc.operations.wait(id, signal ? { signal } : {}).catch((error: unknown) => {
    if (!signal?.aborted) throw error;
    throw new Failure(
      `The operation did not end within ${options.timeout} seconds.`,
      'It goes on; watch it again, or look at `svc operations get`.',
      exitCodes.unreachable,
      { code: 'timeout' },
    );
  });
  say(options, operation, wholeOf(operation));
  if (operation.status === 'failure') process.exitCode = exitCodes.refused;
}

/** `svc operations exchanges`: what the provider was sent, and what it answered. */
export async function operationExchanges(id: string, options: ListOptions): Promise<void> {
  const list = (await connect(options)).operations.exchanges(id, pageSizeOf(options));
  await sayList(options, list, {
    time: ({ time }) => time,
    attempt: ({ attempt }) => attempt,
    request: ({ request: { method, path } }) => `${method} ${path}`,
    answer: ({ answer, fault }) => answer?.status ?? fault,
    ms: ({ totalMs }) => totalMs,
    body: ({ answer }) => answer?.body?.slice(0, 200),
  });
}

/** `svc operations logs`. */
export async function operationLogs(id: string, options: ListOptions): Promise<void> {
  const logs = await (await connect(options)).operations.logs(id);
  async function* each() {
    yield* logs;
  }
  await sayList(options, each(), {
    time: ({ timestamp }) => timestamp,
    severity: ({ severity }) => severity,
    message: ({ message: { msg, error } }) => [msg, error].filter(Boolean).join(': '),
  });
}

/** `svc operations records`: what became of each record of a write. */
export async function operationRecords(id: string, options: ListOptions): Promise<void> {
  const list = (await connect(options)).operations.records(id, pageSizeOf(options));
  await sayList(options, list, {
    index: ({ index }) => index,
    reference: ({ reference }) => reference,
    record: ({ recordId }) => recordId,
    outcome: outcomeOf,
    why: ({ errors }) => errors.map(({ category, message }) => `${category}: ${message}`),
  });
}

/** A resolution is what somebody said, and no outcome that svc saw. */
function outcomeOf({ resolution, resolvedBy }: OperationRecord): string {
  if (resolvedBy !== undefined) return `unknown, resolved as ${resolution}`;
  const words = { applied: 'done', notApplied: 'failed', unknown: 'unknown', pending: 'pending' };
  return words[resolution];
}

interface ResolveOptions extends ConnectionOptions {
  as: 'applied' | 'notApplied';
  index?: number;
  recordId?: string;
}

/** `svc operations resolve`: says what became of records of unknown outcome. */
export async function resolveOperation(id: string, options: ResolveOptions): Promise<void> {
  const { as: resolution, index, recordId } = options;
  const meant = { resolution, ...(recordId === undefined ? {} : { recordId }) };
  const request = index === undefined ? meant : { records: [{ index, ...meant }] };
  const answer = await (await connect(options)).operations.resolve(id, request);
  say(options, answer, `${counted(answer.records.length, 'record')} resolved as ${resolution}.`);
}

/** `svc operations retry`: writes again what failed, in a new operation, or in those that a filter finds. */
export async function retryOperations(id: string | undefined, options: ManyOptions): Promise<void> {
  if (id === undefined) return manyOperations('retry', options);
  if (Object.keys(filterOf(options)).length > 0 || options.dryRun)
    throw new Failure(
      'An operation and what finds several exclude one another.',
      'Give one of them.',
      exitCodes.usage,
    );
  const answer = await (await connect(options)).operations.retry(id);
  say(
    options,
    answer,
    `Retried in operation ${answer.operationId}: svc operations watch ${answer.operationId}`,
  );
}

/** What still gathers, or reads, is counted later. */
function countsOf(
  { succeeded, failed, unknown, total }: NonNullable<Operation['counts']>,
  status: Operation['status'],
): string {
  if (status === 'in_progress' && total === 0) return '  its records are not counted yet';
  return `  ${succeeded} done, ${failed} failed, ${unknown} unknown, of ${total}`;
}

function wholeOf(operation: Operation): string {
  const { id, actionType, resource, status, result, createTime, updateTime, counts, errors, metadata } =
    operation;
  const { retryOf, retriedBy, unresolved } = operation;
  const { nextAttempt } = metadata.retry;
  const isResolved = status !== 'in_progress' && (counts?.unknown ?? 0) > 0 && !unresolved;
  return [
    `${id}  ${actionType} ${resource}: ${status}`,
    ...(result === undefined ? [] : [`  ${result}`]),
    ...(counts ? [countsOf(counts, status)] : []),
    ...(isResolved ? ['  what was unknown is resolved: svc operations records tells how'] : []),
    ...(retryOf === undefined ? [] : [`  writes again what failed of ${retryOf}`]),
    ...(retriedBy === undefined ? [] : [`  what failed is written again by ${retriedBy}`]),
    `  made ${createTime}, changed ${updateTime}`,
    ...(nextAttempt === undefined ? [] : [`  next attempt ${nextAttempt}`]),
    ...errors.slice(0, 10).map(({ category, message }) => `  ${category}: ${message}`),
  ].join('\n');
}
