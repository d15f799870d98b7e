import { crashPoint } from '../kit/crash-point.ts';
import { isDatabaseAway, sqlState, type Database } from '../kit/db/database.ts';
import { createGroupCommit } from '../kit/group-commit.ts';
import type { Metrics } from '../kit/metrics.ts';
import { sleep } from '../kit/retry.ts';
import { record } from './store/record.ts';
import type { Settlement } from './settle.ts';

export interface Recorder {
  /** Resolves with whether the fence held. Keeps trying while the database is away: a known outcome is worth the wait. */
  record(settlement: Settlement, signal?: AbortSignal): Promise<boolean>;
  drain(): Promise<void>;
}

interface RecorderOptions {
  database: Database;
  metrics: Metrics;
  /** Told of the operations that ended, after the commit. */
  onEnded?: (ended: readonly Settlement[]) => void;
}

const transient = new Set(['40001', '40P01', '55P03', '57014']);

/** Records outcomes in groups: what ends while one statement is on its way is the next one. */
export function createRecorder({ database, metrics, onEnded }: RecorderOptions): Recorder {
  const group = createGroupCommit<Settlement, boolean>({
    commit: async (settled) => {
      crashPoint('before-record');
      const kept = await record(database, settled);
      crashPoint('after-record');
      const ended = settled.filter((one, at) => kept[at] && one.done);
      for (const { actionType, status } of ended) metrics.operations.inc({ action: actionType, status });
      onEnded?.(ended);
      return kept;
    },
    maxGroup: 128,
    maxInFlight: 2,
    maxWaiting: Number.MAX_SAFE_INTEGER,
    bisectOn: (error) => /^2[23]/.test(sqlState(error) ?? ''),
  });
  return {
    async record(settlement, signal) {
      for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2_000)) {
        try {
          return await group.submit(settlement);
        } catch (error) {
          // Repeating is safe: if the first one was committed, the row is gone and the repetition changes nothing.
          const passing = isDatabaseAway(error) || transient.has(sqlState(error) ?? '');
          if (!passing || signal?.aborted) throw error;
          await sleep(pauseMs, signal);
        }
      }
    },
    drain: () => group.drain(),
  };
}
