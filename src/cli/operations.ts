import type { Operation } from '../../ui/client/src/index.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { exitCodes, Failure } from './failure.ts';
import { say } from './output.ts';

interface ListOptions extends ConnectionOptions {
  integration: string;
  installation: string;
  limit: number;
}

/** `svc operations list`: those of an installation, newest first. */
export async function listOperations(options: ListOptions): Promise<void> {
  const svc = await connect(options);
  const of = { integration: options.integration, installationId: options.installation };
  const pageSize = Math.min(options.limit, 200);
  let left = options.limit;
  for await (const operation of svc.operations.list({ ...of, pageSize })) {
    say(options, operation, lineOf(operation));
    left -= 1;
    if (left === 0) return;
  }
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
    );
  });
  say(options, operation, wholeOf(operation));
  if (operation.status === 'failure') process.exitCode = exitCodes.refused;
}

function lineOf({ id, createTime, actionType, resource, status, result }: Operation): string {
  return [id, createTime, actionType, resource, status, result ?? ''].join('  ').trimEnd();
}

function wholeOf(operation: Operation): string {
  const { id, actionType, resource, status, result, createTime, updateTime, counts, errors, metadata } =
    operation;
  const { nextAttempt } = metadata.retry;
  return [
    `${id}  ${actionType} ${resource}: ${status}`,
    ...(result === undefined ? [] : [`  ${result}`]),
    ...(counts
      ? [`  ${counts.succeeded} done, ${counts.failed} failed, ${counts.unknown} unknown, of ${counts.total}`]
      : []),
    `  made ${createTime}, changed ${updateTime}`,
    ...(nextAttempt === undefined ? [] : [`  next attempt ${nextAttempt}`]),
    ...errors.slice(0, 10).map(({ category, message }) => `  ${category}: ${message}`),
  ].join('\n');
}
