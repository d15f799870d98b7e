import type { CancelOperationsRequest, RetryOperationsRequest, Svc } from '../../ui/client/src/index.ts';
import { confirm } from './confirm.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { exitCodes, Failure } from './failure.ts';
import { filterOf, type FilterOptions } from './operation-filter.ts';
import { counted, say, tell } from './output.ts';

export interface ManyOptions extends ConnectionOptions, Omit<FilterOptions, 'status'> {
  dryRun?: boolean;
  yes?: boolean;
}

type Filter = RetryOperationsRequest['filter'] & CancelOperationsRequest['filter'];

interface Result {
  operationId: string;
  retriedBy?: string;
  replayed?: true;
  refused?: { code: string; detail: string };
}

interface Answer {
  results: readonly Result[];
  pagination: { done: boolean; nextPageToken?: string };
}

/** What is done with each operation that a filter finds. */
interface Deed {
  page(svc: Svc, request: { filter: Filter; dryRun?: boolean; pageToken?: string }): Promise<Answer>;
  /** Before a count. */
  does: string;
  would: string;
  did: string;
  goesOn: string;
}

const deeds: Readonly<Record<'retry' | 'cancel', Deed>> = {
  retry: {
    page: (svc, request) => svc.operations.retryMany(request),
    does: 'This writes again what failed of',
    would: 'would be retried',
    did: 'retried',
    goesOn: 'refused',
  },
  cancel: {
    page: (svc, request) => svc.operations.cancelMany(request),
    does: 'This ends, unsent, what waits of',
    would: 'would be canceled',
    did: 'canceled',
    goesOn: 'left alone',
  },
};
/** Beyond that the count says "more than". */
const mostCounted = 1_000;

/** `svc operations retry` and `cancel` without an operation: counts what the filter finds, asks, and does it. */
export async function manyOperations(verb: 'retry' | 'cancel', options: ManyOptions): Promise<void> {
  const filter: Filter = filterOf(options);
  if (Object.keys(filter).length === 0)
    throw new Failure(
      `There is nothing that says which operations to ${verb}.`,
      `Say which: ${verb === 'retry' ? '--partly-done, ' : ''}--category, --group, --object, --installation, --from or --to.`,
      exitCodes.usage,
    );
  const deed = deeds[verb];
  const svc = await connect(options);
  const found = await countOf(svc, deed, filter);
  if (options.dryRun) {
    say(options, found, `${manyOf(found)} ${deed.would}${restOf(found, deed)}.`);
    return;
  }
  if (found.count > 0) await ask(deed, found, verb, options);
  const done = await doAll(svc, deed, filter, options);
  if (!options.json)
    say(options, done, `${counted(done.count, 'operation')} ${deed.did}${restOf(done, deed)}.`);
  if (done.refused > 0) process.exitCode = exitCodes.refused;
}

interface Found {
  count: number;
  /** It was done with them before. */
  before: number;
  refused: number;
  countIsComplete: boolean;
}

async function countOf(svc: Svc, deed: Deed, filter: Filter): Promise<Found> {
  const found: Found = { count: 0, before: 0, refused: 0, countIsComplete: true };
  for await (const result of resultsOf(svc, deed, { filter, dryRun: true })) {
    if (found.count + found.before + found.refused === mostCounted)
      return { ...found, countIsComplete: false };
    found[endOf(result)] += 1;
  }
  return found;
}

async function doAll(svc: Svc, deed: Deed, filter: Filter, options: ConnectionOptions): Promise<Found> {
  const done: Found = { count: 0, before: 0, refused: 0, countIsComplete: true };
  for await (const result of resultsOf(svc, deed, { filter })) {
    done[endOf(result)] += 1;
    if (options.json) say(options, result, '');
    else if (result.refused) tell(`${result.operationId}: ${result.refused.detail}`);
  }
  return done;
}

function endOf({ refused, replayed }: Result): 'count' | 'before' | 'refused' {
  return refused ? 'refused' : replayed ? 'before' : 'count';
}

async function* resultsOf(
  svc: Svc,
  deed: Deed,
  request: { filter: Filter; dryRun?: boolean },
): AsyncGenerator<Result> {
  for (let pageToken: string | undefined; ;) {
    const { results, pagination } = await deed.page(svc, {
      ...request,
      ...(pageToken === undefined ? {} : { pageToken }),
    });
    yield* results;
    if (pagination.done) return;
    pageToken = pagination.nextPageToken;
  }
}

function ask(deed: Deed, found: Found, verb: string, options: ManyOptions): Promise<void> {
  return confirm(`${deed.does} ${manyOf(found)}.`, options, {
    without: 'say --dry-run to count only',
    nothing: new Failure(
      verb === 'retry' ? 'Nothing is retried.' : 'Nothing is canceled.',
      'Narrow it by --category, --group, --object, --installation, --from, --to.',
    ),
  });
}

function manyOf({ count, countIsComplete }: Found): string {
  return `${countIsComplete ? '' : 'more than '}${counted(count, 'operation')}`;
}

function restOf({ before, refused }: Found, { did, goesOn }: Deed): string {
  return `${before === 0 ? '' : `, ${before} ${did} before`}${refused === 0 ? '' : `, ${refused} ${goesOn}`}`;
}
