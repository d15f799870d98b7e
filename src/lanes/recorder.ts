import { crashPoint } from '../kit/crash-point.ts';
import { faultOf } from '../kit/db/database.ts';
import { createGroupCommit } from '../kit/group-commit.ts';
import type { Ground } from '../kit/ground.ts';
import type { Logger } from '../kit/log.ts';
import { sleep } from '../kit/retry.ts';
import { plainer } from './plainer.ts';
import { countAttempt, tellEnd } from './outcomes.ts';
import { record } from './store/record.ts';
import type { Settlement } from './settle.ts';

export interface Recorder {
  /**
   * Resolves with whether the fence held. What became of something sent is known nowhere else: whatever the database
   * answers, it is kept and tried again. Rejects only when the signal is aborted and the try after it fails, too.
   */
  record(settlement: Settlement, signal?: AbortSignal): Promise<boolean>;
  /** Resolves when nothing waits to be recorded. */
  drain(): Promise<void>;
}

interface RecorderOptions extends Pick<Ground, 'database' | 'metrics' | 'log'> {
  /** Told of the operations that ended, after the commit. */
  onEnded: (ended: readonly Settlement[]) => void;
}

const longestPauseMs = 2_000;

/** Records outcomes in groups: what ends while one statement is on its way is the next one. */
export function createRecorder(ground: Ground, onEnded: RecorderOptions['onEnded']): Recorder {
  const options: RecorderOptions = { ...ground, onEnded };
  const common = {
    commit: (settled: readonly Settlement[]) => commit(options, settled),
    maxInFlight: 2,
    maxWaiting: Number.MAX_SAFE_INTEGER,
    bisectOn: (error: unknown) => faultOf(error) !== 'unable',
  };
  const shared = createGroupCommit<Settlement, boolean>({ ...common, maxGroup: 128 });
  // What was refused by itself stays by itself, so that it holds up no other.
  const alone = createGroupCommit<Settlement, boolean>({ ...common, maxGroup: 1 });
  const pending = new Set<Promise<unknown>>();

  async function keepTrying(settlement: Settlement, signal?: AbortSignal): Promise<boolean> {
    let form = settlement;
    let group = shared;
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        return await group.submit(form);
      } catch (error) {
        // Repeating is safe: if the first one was committed, the row is gone and the repetition changes nothing.
        if (signal?.aborted) throw error;
        const fault = faultOf(error);
        if (fault !== 'unable') group = alone;
        const less = fault === 'data' ? plainer(form) : undefined;
        tell(options.log, form, error, less !== undefined, pauseMs);
        form = less ?? form;
        if (!less) await sleep(pauseMs, signal);
      }
    }
  }

  return {
    record(settlement, signal) {
      const recording = keepTrying(settlement, signal);
      const settled = recording.catch(() => undefined).finally(() => pending.delete(settled));
      pending.add(settled);
      return recording;
    },
    async drain() {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

async function commit(
  { database, metrics, log, onEnded }: RecorderOptions,
  settled: readonly Settlement[],
): Promise<boolean[]> {
  crashPoint('before-record');
  const kept = await record(database, settled);
  crashPoint('after-record');
  const recorded = settled.filter((_, at) => kept[at]);
  for (const one of recorded) countAttempt(metrics, one);
  const ended = recorded.filter(({ done }) => done);
  for (const one of ended) tellEnd(log, one);
  onEnded(ended);
  return kept;
}

/** Once for a row that waits, and once for each that is recorded with less in it. */
function tell(
  log: Logger,
  { projectId, operationId }: Settlement,
  err: unknown,
  isLess: boolean,
  pauseMs: number,
): void {
  if (isLess) log.warn({ err, projectId, operationId }, 'a value of an outcome was refused; it is left out');
  else if (pauseMs === longestPauseMs)
    log.debug({ err, projectId, operationId }, 'an outcome still waits to be recorded');
  else if (pauseMs === 50)
    log.warn({ err, projectId, operationId }, 'an outcome could not be recorded; it is kept and tried again');
}
