import { newId } from '../../kit/ids.ts';
import { backoffMs } from '../../kit/retry.ts';
import type { Heard, Ran } from '../../lanes/index.ts';
import type { Place } from '../../operations/index.ts';
import type { Failure } from '../../providers/index.ts';
import type { RunEnd, RunLog } from './store/ends.ts';
import type { Run, RunItem } from './store/runs.ts';

/** A provider may be away for so long until a run is given up. */
const longestFailingMs = 24 * 3_600_000;
const longestPauseMs = 5 * 60_000;
/**
 * Whatever a provider asks for, a run is looked at again after this long: how long its window is closed is known to the rate
 * budget, and believed for a day at most.
 */
const longestWaitMs = 15 * 60_000;

export type RunningItem = RunItem & { run: Run };

type Counts = Pick<Run, 'emitted' | 'processed' | 'page' | 'until'>;

/** The ends of an attempt at a run, as values. */
export interface RunEnds {
  /** It goes on later; nothing failed. `rests`: until somebody lets it. */
  later(waitMs: number, why?: { rests?: boolean; because?: { key: string; msg: string } }): RunEnd;
  /** A failure: it is tried again, or the run ends with it. */
  failed(failure: Failure): Ran<RunEnd>;
  /** Everything was read. */
  whole(counts: Counts, missing: readonly string[]): RunEnd;
  /** Those behind a page that is kept: what failed before does not count any more, and what it waits for is told anew. */
  behindPage(): RunEnds;
}

interface EndOptions {
  /** Where it reads, as far as it is known. */
  place: Place;
  pauseAfter: number;
  random?: () => number;
}

export function endsOf(item: RunningItem, options: EndOptions): RunEnds {
  const { place, pauseAfter, random } = options;
  const base = underWay(item, place, pauseAfter);
  const { run } = item;
  return {
    later(asked, { rests = false, because } = {}) {
      const end = { ...base, rests, waitMs: Math.min(asked, longestWaitMs) };
      if (!because || run.told.includes(because.key)) return end;
      const told = [...run.told, because.key];
      return { ...end, waits: true, told, logs: [line('warning', because.msg)] };
    },
    failed(failure) {
      const heard: Heard = failure.provider || failure.category !== 'providerDown' ? 'answer' : 'silence';
      if (waitsForCustomer(run, failure)) return { end: untilMended(base, run, failure), heard };
      if (failure.category !== 'rateLimit' || !failure.retryable)
        return { end: afterFailure(base, run, failure, random), heard };
      const waitMs = Math.min(failure.retryAfterMs ?? 10_000, longestWaitMs);
      return { end: { ...base, waitMs }, heard };
    },
    whole(counts, missing) {
      const result = wordsOf(run, counts);
      const lost = missing.map((name) =>
        line('warning', `the provider has no field ${name}; it was left out`),
      );
      return {
        ...base,
        done: true,
        spent: true,
        status: 'success',
        result,
        logs: [...lost, line('info', result)],
        ...(run.type === 'scheduled' || run.type === 'associations' ? { watermark: counts.until } : {}),
      };
    },
    behindPage: () => endsOf({ ...item, run: { ...run, failures: 0, failingMs: 0, told: [] } }, options),
  };
}

/** The end of an attempt that changes nothing. */
function underWay(
  { run, projectId, seq, lease, mark, attempt }: RunningItem,
  place: Place,
  pauseAfter: number,
): RunEnd {
  const { operationId, installationId, objectName, type, since, until, told } = run;
  return {
    projectId,
    seq,
    lease,
    mark,
    operationId,
    installationId,
    actionType: 'read',
    resource: objectName,
    place,
    attempt,
    type,
    done: false,
    waitMs: 0,
    spent: false,
    status: 'in_progress',
    result: null,
    errors: [],
    failed: false,
    rests: false,
    pauseAfter,
    excused: false,
    waits: false,
    range: { since, until },
    told,
    logs: [],
  };
}

/**
 * Only the customer can mend it, or the operator, and history is read once: it goes on at its page when that is done. A
 * scheduled run ends instead, since the next one reads what it did not.
 */
function waitsForCustomer({ type }: Run, { category, retryable }: Failure): boolean {
  if (category === 'auth' && retryable) return false;
  return type === 'backfill' && (category === 'auth' || category === 'permission');
}

function untilMended(base: RunEnd, run: Run, failure: Failure): RunEnd {
  const waiting = { ...base, waitMs: longestPauseMs, rests: true };
  const again = { ...waiting, errors: [{ index: 0, ...failure }], failure, spent: true };
  if (run.told.includes('account')) return again;
  const until = failure.refusedHere
    ? 'the operator allows it, and goes on within five minutes'
    : 'the account is connected again';
  const msg = `${failure.message}; the read waits until ${until}`;
  return { ...again, waits: true, told: [...run.told, 'account'], logs: [line('warning', msg, failure)] };
}

function afterFailure(base: RunEnd, run: Run, failure: Failure, random = Math.random): RunEnd {
  const pauseMs = backoffMs(run.failures + 1, { capMs: longestPauseMs, random });
  const waitMs = Math.min(Math.max(pauseMs, failure.retryAfterMs ?? 0), longestWaitMs);
  // A longer time between two failures is one in which nobody asked.
  const failingMs = Math.min(run.failingMs, run.failures * longestWaitMs);
  const isLast = !failure.retryable || failingMs + waitMs > longestFailingMs;
  const failed: RunEnd = {
    ...base,
    spent: true,
    failed: true,
    errors: [{ index: 0, ...failure }],
    failure,
    logs: [line(isLast ? 'error' : 'warning', failure.message, failure)],
  };
  if (!isLast) return { ...failed, waitMs };
  // Credentials that do not work are somebody else's to mend, and reading goes on when they are.
  const excused = failure.category === 'auth';
  const result = `[${run.objectName}] ${failure.message}`;
  return { ...failed, done: true, status: 'failure', result, excused };
}

function wordsOf({ objectName, type }: Run, { emitted, processed, page }: Counts): string {
  const repeated = processed - emitted;
  const pages = page === 1 ? '1 page' : `${page} pages`;
  if (type === 'associations')
    return `[${objectName}] ${processed} ${processed === 1 ? 'record' : 'records'} compared in ${pages}; the associations of ${emitted} had changed`;
  const known = repeated > 0 ? `; ${repeated} had been delivered before` : '';
  return `[${objectName}] ${processed} ${processed === 1 ? 'record' : 'records'} read in ${pages}${known}`;
}

function line(severity: RunLog['severity'], msg: string, failure?: Failure): RunLog {
  const code = failure?.provider?.code;
  return {
    id: newId(),
    severity,
    msg,
    details: {
      ...(failure ? { category: failure.category } : {}),
      ...(code === undefined ? {} : { providerCode: code }),
    },
  };
}
