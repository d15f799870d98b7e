import { newId } from '../../kit/ids.ts';
import { backoffMs } from '../../kit/retry.ts';
import type { Heard, Ran } from '../../lanes/index.ts';
import type { Failure } from '../../providers/index.ts';
import type { RunEnd, RunLog } from './store/ends.ts';
import type { Run, RunItem } from './store/runs.ts';

/** A provider may be away for so long until a run is given up. */
const longestFailingMs = 24 * 3_600_000;
const longestPauseMs = 5 * 60_000;

export type RunningItem = RunItem & { run: Run };

/** The ends of an attempt at a run, as values. */
export interface RunEnds {
  /** It goes on later; nothing failed. */
  later(waitMs: number, because?: { key: string; msg: string }): RunEnd;
  /** A failure: it is tried again, or the run ends with it. */
  failed(failure: Failure): Ran<RunEnd>;
  /** Everything was read. */
  whole(counts: Pick<Run, 'emitted' | 'processed' | 'page'>, missing: readonly string[]): RunEnd;
}

interface EndOptions {
  groupRef: string | undefined;
  pauseAfter: number;
  random?: () => number;
}

export function endsOf(item: RunningItem, { groupRef, pauseAfter, random }: EndOptions): RunEnds {
  const { run, projectId, seq, lease } = item;
  const { operationId, installationId, objectName, type } = run;
  const base: RunEnd = {
    projectId,
    seq,
    lease,
    operationId,
    installationId,
    objectName,
    type,
    groupRef,
    done: false,
    waitMs: 0,
    spent: false,
    status: 'in_progress',
    result: null,
    errors: [],
    failed: false,
    pauseAfter,
    waits: false,
    range: { since: run.since, until: run.until },
    told: run.told,
    logs: [],
  };
  return {
    later(waitMs, because) {
      if (!because || run.told.includes(because.key)) return { ...base, waitMs };
      return {
        ...base,
        waitMs,
        waits: true,
        told: [...run.told, because.key],
        logs: [line('warning', because.msg)],
      };
    },
    failed(failure) {
      const heard: Heard = failure.provider || failure.category !== 'providerDown' ? 'answer' : 'silence';
      if (failure.category === 'rateLimit' && failure.retryable) {
        const waitMs = failure.retryAfterMs ?? 10_000;
        return { end: { ...base, waitMs }, heard, laneWaitsMs: waitMs };
      }
      const errors = [{ index: 0, ...failure }];
      const pauseMs = backoffMs(run.failures + 1, { capMs: longestPauseMs, ...(random ? { random } : {}) });
      const waitMs = Math.max(pauseMs, failure.retryAfterMs ?? 0);
      const log = line(failure.retryable ? 'warning' : 'error', failure.message, failure);
      const isLast = !failure.retryable || run.failingMs + waitMs > longestFailingMs;
      const again: RunEnd = { ...base, waitMs, spent: true, failed: true, errors, logs: [log] };
      if (!isLast) return { end: again, heard };
      const result = `[${objectName}] ${failure.message}`;
      // Credentials that do not work are somebody else's to mend, and reading goes on when they are.
      const count = failure.category === 'auth' ? Number.MAX_SAFE_INTEGER : pauseAfter;
      return {
        end: {
          ...again,
          done: true,
          waitMs: 0,
          status: 'failure',
          result,
          pauseAfter: Math.min(count, 2 ** 31 - 1),
        },
        heard,
      };
    },
    whole({ emitted, processed, page }, missing) {
      const result = wordsOf(objectName, { emitted, processed, page });
      const lost = missing.map((name) =>
        line('warning', `the provider has no field ${name}; it was left out`, undefined, { field: name }),
      );
      return {
        ...base,
        done: true,
        spent: true,
        status: 'success',
        result,
        logs: [...lost, line('info', result)],
        ...(type === 'scheduled' ? { watermark: run.until } : {}),
      };
    },
  };
}

function wordsOf(
  objectName: string,
  { emitted, processed, page }: { emitted: number; processed: number; page: number },
): string {
  const repeated = processed - emitted;
  const pages = page === 1 ? '1 page' : `${page} pages`;
  const known = repeated > 0 ? `; ${repeated} had been delivered before` : '';
  return `[${objectName}] ${processed} ${processed === 1 ? 'record' : 'records'} read in ${pages}${known}`;
}

function line(
  severity: RunLog['severity'],
  msg: string,
  failure?: Failure,
  details: Record<string, string> = {},
): RunLog {
  const code = failure?.provider?.code;
  return {
    id: newId(),
    severity,
    msg,
    details: {
      ...details,
      ...(failure ? { category: failure.category } : {}),
      ...(code === undefined ? {} : { providerCode: code }),
    },
  };
}
