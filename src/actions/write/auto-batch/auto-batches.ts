import type { Ground } from '../../../kit/ground.ts';
import { sleep } from '../../../kit/retry.ts';
import type { Operations } from '../../../operations/index.ts';
import { createGatherer } from './accept.ts';
import type { AutoBatchIntake } from './places.ts';

export interface AutoBatches {
  /**
   * Resolves once the record is committed in an open batch of its lane, installation, object and request; the id is that of
   * the batch's master operation. The batch leaves with 100 records, or when the delay of its first record is over.
   * `replayed`: the key of the intake stands for that operation, and nothing was accepted.
   */
  accept: (intake: AutoBatchIntake) => Promise<{ operationId: string; replayed?: true }>;
  /** Waits for what is being accepted. */
  close(deadlineMs?: number): Promise<void>;
}

/** Gathers single writes into batches, and tells the workers of those that are full. */
export function createAutoBatches(
  { database }: Pick<Ground, 'database'>,
  { announce }: Pick<Operations, 'announce'>,
): AutoBatches {
  const gatherer = createGatherer(database);
  return {
    async accept(intake) {
      const { operationId, full, replayed } = await gatherer.accept(intake);
      if (full) announce(intake.laneId);
      return { operationId, ...(replayed ? { replayed } : {}) };
    },
    async close(deadlineMs = 10_000) {
      const over = new AbortController();
      await Promise.race([gatherer.drain(), sleep(deadlineMs, over.signal)]);
      over.abort();
    },
  };
}
