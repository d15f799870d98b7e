import { crashPoint } from '../kit/crash-point.ts';
import type { Database } from '../kit/db/database.ts';
import { faultOf, leavesOpen } from '../kit/db/faults.ts';
import { createGroupCommit, groupSize } from '../kit/group-commit.ts';
import type { Logger } from '../kit/log.ts';
import { sleep } from '../kit/retry.ts';
import type { End, Kind } from './kind.ts';

export interface Recorder<Ended extends End> {
  /**
   * Resolves with whether the fence held. What became of something sent is known nowhere else: whatever the database
   * answers, it is kept and tried again. Rejects only when the signal is aborted and the try after it fails, too.
   */
  record(end: Ended, signal?: AbortSignal): Promise<boolean>;
  /** Resolves when nothing waits to be recorded. */
  drain(): Promise<void>;
}

/** Of a kind, what concerns its ends. */
export type Records<Ended extends End> = Pick<Kind<never, Ended>, 'record' | 'recorded' | 'less'> & {
  about(end: Ended): Record<string, unknown>;
};

const longestPauseMs = 2_000;

/** Records the ends of one kind in groups: what ends while one statement is on its way is the next one. */
export function createRecorder<Ended extends End>(
  { database, log }: { database: Database; log: Logger },
  kind: Records<Ended>,
  onEnded: (ended: readonly Ended[]) => void = () => undefined,
): Recorder<Ended> {
  const common = {
    async commit(ends: readonly Ended[]) {
      crashPoint('before-record');
      const kept = await kind.record(database, ends);
      crashPoint('after-record');
      const recorded = ends.filter((_, at) => kept[at]);
      kind.recorded?.(recorded);
      onEnded(recorded.filter(({ done }) => done));
      return kept;
    },
    bisectOn: (error: unknown) => faultOf(error) !== 'unable',
  };
  const shared = createGroupCommit<Ended, boolean>({ ...common, maxGroup: groupSize.rows });
  // What was refused by itself stays by itself, so that it holds up no other.
  const alone = createGroupCommit<Ended, boolean>({ ...common, maxGroup: groupSize.alone });
  const pending = new Set<Promise<unknown>>();

  async function keepTrying(end: Ended, signal?: AbortSignal): Promise<boolean> {
    let form = end;
    let group = shared;
    let mayBeKept = false;
    for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      try {
        const kept = await group.submit(form);
        // Of what was committed before its answer was lost nobody was told.
        if (!kept && mayBeKept) kind.recorded?.([form]);
        return kept;
      } catch (error) {
        mayBeKept ||= leavesOpen(error);
        // Repeating is safe: if the first one was committed, the row is gone, or its mark is, and the repetition changes nothing.
        if (signal?.aborted) throw error;
        const fault = faultOf(error);
        if (fault !== 'unable') group = alone;
        const less = fault === 'data' ? kind.less?.(form) : undefined;
        tell(log, { ...kind.about(form), err: error }, less !== undefined, pauseMs);
        form = less ?? form;
        if (!less) await sleep(pauseMs, signal);
      }
    }
  }

  return {
    record(end, signal) {
      const recording = keepTrying(end, signal);
      const settled = recording.catch(() => undefined).finally(() => pending.delete(settled));
      pending.add(settled);
      return recording;
    },
    async drain() {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}

/** Once for a row that waits, and once for each that is recorded with less in it. */
function tell(log: Logger, about: Record<string, unknown>, isLess: boolean, pauseMs: number): void {
  if (isLess) log.warn(about, 'a value of an outcome was refused; it is left out');
  else if (pauseMs === longestPauseMs) log.debug(about, 'an outcome still waits to be recorded');
  else if (pauseMs === 50) log.warn(about, 'an outcome could not be recorded; it is kept and tried again');
}
