import { record } from '../events/index.ts';
import type { Database } from '../kit/db/database.ts';
import type { Ground } from '../kit/ground.ts';
import { createPeriodic, type Periodic } from '../kit/periodic.ts';
import { sleep } from '../kit/retry.ts';
import { countDeadLetters, takeDeadLetters } from './store/dead-letters.ts';

/** What ran out within this time is one event. */
const gatherMs = 20_000;
const destinationsAtOnce = 100;

/**
 * Tells, with one event for each destination, of the deliveries that ran out of attempts and have waited for so long to be told
 * of. Answers whether there may be more.
 */
export async function tellDeadLetters(database: Database, waitedMs = gatherMs): Promise<boolean> {
  return database.transaction(async (tx) => {
    const untold = await takeDeadLetters(tx, waitedMs, destinationsAtOnce);
    for (const { project_id: projectId, id, name, dead_letters: count, dead_since: since } of untold) {
      const data = {
        projectId,
        destinationId: id,
        destinationName: name,
        count: Number(count),
        since: since.toISOString(),
      };
      await record(tx, {
        projectId,
        told: { type: 'destination.deliveries.failed', data: JSON.stringify(data) },
      });
    }
    return untold.length === destinationsAtOnce;
  });
}

const everyMs = 15_000;

/** Within a minute everything that ran out is told of. */
export function createDeadLetterTeller({ database, log }: Pick<Ground, 'database' | 'log'>): Periodic {
  return createPeriodic({
    log,
    what: 'telling of deliveries that ran out of attempts',
    everyMs,
    round: () => tellDeadLetters(database),
  });
}

const keptMs = 15_000;
const mostCounted = 100_000;
const patienceMs = 2_000;

/** Counts dead letters for the gauge: read once in a while, for all who ask meanwhile; undefined while the database is away. */
export function createDeadLetterCounter(database: Database): () => Promise<number | undefined> {
  let reading: Promise<number | undefined> | undefined;
  let readAt = -Infinity;
  return () => {
    if (!reading || performance.now() - readAt > keptMs) {
      readAt = performance.now();
      reading = countDeadLetters(database, mostCounted).catch(() => undefined);
    }
    return Promise.race([reading, sleep(patienceMs).then(() => undefined)]);
  };
}
