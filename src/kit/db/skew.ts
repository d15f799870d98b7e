import { noteTime, type TimedDatabase } from './in-time.ts';
import { statement } from './statement.ts';

/** Above it times in logs and limits are hard to follow. */
const muchSkewMs = 60_000;
const lookEveryMs = 30_000;

// Not svc_now(), which tests move.
const readClock = statement(
  'skew_clock',
  `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now`,
);

interface SkewHooks {
  /** This clock is ahead of that of the database by so much; behind, where it is negative. */
  onSkewed: (aheadMs: number) => void;
  onRight: () => void;
}

/** Tells once when the clock of this node and that of the database differ, again when the difference changes, and when it is over. */
export function watchSkew(
  database: TimedDatabase,
  { onSkewed, onRight }: SkewHooks,
  { clock = Date.now, everyMs = lookEveryMs } = {},
): () => void {
  let toldMs: number | undefined;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    try {
      const askedAt = clock();
      const [row] = await database.rows<{ now: number }>(readClock);
      const answeredAt = clock();
      if (row) noteTime(database, row.now);
      // An answer that took long says little, and so does one during which the clock was set.
      if (!row || Math.abs(answeredAt - askedAt) > muchSkewMs / 2) return;
      const aheadMs = (askedAt + answeredAt) / 2 - row.now;
      const isSkewed = Math.abs(aheadMs) > muchSkewMs;
      if (isSkewed && Math.abs(aheadMs - (toldMs ?? 0)) > muchSkewMs) {
        toldMs = aheadMs;
        onSkewed(aheadMs);
      } else if (!isSkewed && toldMs !== undefined) {
        toldMs = undefined;
        onRight();
      }
    } catch {
      // Away: what is ready tells that.
    } finally {
      isLooking = false;
    }
  };
  void look();
  const timer = setInterval(() => void look(), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
