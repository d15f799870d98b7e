import type { OperationError, Tally, WorkItem } from '../../../operations/index.ts';

const pastTense: Record<string, string> = {
  create: 'created',
  update: 'updated',
  delete: 'deleted',
  upsert: 'upserted',
};

type Subject = Pick<WorkItem, 'resource' | 'request' | 'attempt'>;

/** The sentence of a finished operation: `[contacts] 2 records created, 1 failed: validation: name is required`. */
export function describeResult(item: Subject, counts: Tally): string {
  const failures = counts.failed + counts.unknown;
  if (counts.succeeded === 0 && failures > 0) return `[${item.resource}] ${describeFailures(counts)}`;
  const verb = pastTense[String(item.request['type'])] ?? 'done';
  const done = `[${item.resource}] ${plural(counts.succeeded)} ${verb}`;
  if (failures === 0) return `${done}.`;
  const parts = [
    ...(counts.failed > 0 ? [`${counts.failed} failed`] : []),
    ...(counts.unknown > 0 ? [`${counts.unknown} of unknown outcome`] : []),
  ];
  return `${done}, ${parts.join(', ')}: ${describeError(counts.errors[0])}`;
}

/** The sentence of an attempt that will be repeated. */
export function describeProgress(item: Subject, waiting: Tally): string {
  return `[${item.resource}] attempt ${item.attempt} did not succeed, another follows: ${describeError(waiting.errors[0])}`;
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
