import type { Database } from '../../kit/db/database.ts';
import type { Logger } from '../../kit/log.ts';
import { createPeriodic, type Periodic } from '../../kit/periodic.ts';
import { foldActivity, forgetActivity, type Grain } from './store.ts';

const everyMs = 2_000;
const rowsAtOnce = 5_000;
const forgetEveryMs = 10 * 60_000;
const daySeconds = 24 * 3_600;
/** A little longer than anybody asks for. */
const keptSeconds: Record<Grain, number> = {
  minute: 2 * 3_600,
  tenMinutes: 26 * 3_600,
  hour: 8 * daySeconds,
  sixHours: 32 * daySeconds,
};

/** Keeps the figures of what ended: on as many nodes as there are, each takes what no other has taken. */
export function createActivityKeeper({ database, log }: { database: Database; log: Logger }): Periodic {
  let forgotAt = -Infinity;

  async function forgetOld(): Promise<void> {
    if (performance.now() - forgotAt < forgetEveryMs) return;
    for (const [grain, kept] of Object.entries(keptSeconds))
      await forgetActivity(database, grain as Grain, kept);
    forgotAt = performance.now();
  }

  return createPeriodic({
    log,
    what: 'bringing the figures of what ended up to date',
    everyMs,
    async round() {
      const isMore = (await foldActivity(database, rowsAtOnce)) === rowsAtOnce;
      await forgetOld();
      return isMore;
    },
  });
}
