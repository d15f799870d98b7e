import type { OperationError, Tally, WorkItem } from '../../../operations/index.ts';

const pastTense: Record<string, string> = {
  create: 'created',
  update: 'updated',
  delete: 'deleted',
  upsert: 'upserted',
};

type Subject = Pick<WorkItem, 'resource' | 'request' | 'attempt'>;

/** The result of a finished operation: `[contacts] 2 records created, 1 failed: validation: name is required`. */
export function describeResult(item: Subject, counts: Tally): string {
  const failures = counts.failed + counts.unknown;
  if (counts.succeeded === 0 && failures > 0) return `[${item.resource}] ${describeFailures(counts)}`;
  const end = describeEnd(item, counts);
  return failures === 0 ? end : `${end}: ${describeError(counts.errors[0])}`;
}

/** The same for the log, where the error stands beside it: `[contacts] 2 records created, 1 failed`. */
export function describeEnd(item: Subject, { succeeded, failed, unknown }: Tally): string {
  const verb = pastTense[String(item.request['type'])] ?? 'done';
  const parts: [count: number, what: string][] = [
    [succeeded, verb],
    [failed, 'failed'],
    [unknown, 'of unknown outcome'],
  ];
  const [first = [0, verb], ...others] = parts.filter(([count]) => count > 0);
  const rest = others.map(([count, what]) => `, ${count} ${what}`);
  const stop = failed + unknown === 0 ? '.' : '';
  return `[${item.resource}] ${plural(first[0])} ${first[1]}${rest.join('')}${stop}`;
}

/** An attempt that will be repeated, for the log. */
export function describeProgress(item: Subject): string {
  return `[${item.resource}] attempt ${item.attempt} did not succeed, another follows`;
}

function describeFailures(counts: Tally): string {
  const failures = counts.failed + counts.unknown;
  const more = failures > 1 ? ` (${plural(failures)} not written)` : '';
  return `${describeError(counts.errors[0])}${more}`;
}

function describeError(error: OperationError | undefined): string {
  return error ? `${error.category}: ${error.message}` : 'internal: no reason was recorded';
}

function plural(count: number): string {
  return count === 1 ? '1 record' : `${count} records`;
}
