import { apart } from './db/deeds.ts';
import type { Logger } from './log.ts';
import { sleep } from './retry.ts';

/** Writes rows in batches, after what they tell of has happened and nobody waits for them. */
export interface BatchWriter<Row> {
  add(row: Row): void;
  /** Writes the remaining rows, if the database answers. */
  close(): Promise<void>;
}

export interface BatchWriterOptions<Row> {
  log: Logger;
  /** For people, in the plural: what the rows are. */
  what: string;
  /** Writes all or none. Called with the same rows again after a failure, whose answer alone may have been lost. */
  write: (rows: readonly Row[]) => Promise<void>;
  rowsPerBatch: number;
  /** With the database away, the oldest beyond this are dropped. */
  mostWaiting: number;
  /** What a row counts of `mostWaiting`; without it 1. */
  weightOf?: (row: Row) => number;
}

const everyMs = 500;

export function createBatchWriter<Row>(options: BatchWriterOptions<Row>): BatchWriter<Row> {
  const { log, what, write, rowsPerBatch, mostWaiting, weightOf = () => 1 } = options;
  const closing = new AbortController();
  let waiting: Row[] = [];
  let weight = 0;
  /** The batch under way. A failed batch is tried again unchanged. */
  let inHand: Row[] = [];
  let writing: Promise<void> | undefined;

  function take(): Row[] {
    const taken = waiting.splice(0, rowsPerBatch);
    for (const row of taken) weight -= weightOf(row);
    return taken;
  }

  /** Down to half, so that it is not done again for each row that comes. */
  function dropOldest(): void {
    let dropped = 0;
    while (weight > mostWaiting / 2 && dropped < waiting.length) {
      weight -= weightOf(waiting[dropped] as Row);
      dropped += 1;
    }
    waiting = waiting.slice(dropped);
    log.warn({ dropped }, `${what} were dropped, since the database takes none`);
  }

  /** Writes one batch after the other until none is left. New rows wait for the next batch. */
  async function run(): Promise<void> {
    while (inHand.length > 0 || waiting.length > 0) {
      await sleep(everyMs, closing.signal);
      try {
        while (inHand.length > 0 || waiting.length > 0) {
          if (inHand.length === 0) inHand = take();
          await write(inHand);
          inHand = [];
        }
      } catch (error) {
        log.warn({ err: error, waiting: waiting.length }, `${what} could not be written`);
        if (closing.signal.aborted) return;
      }
    }
  }

  return {
    add(row) {
      waiting.push(row);
      weight += weightOf(row);
      if (weight > mostWaiting) dropOldest();
      writing ??= apart(run).finally(() => {
        writing = undefined;
      });
    },
    async close() {
      closing.abort();
      await writing;
    },
  };
}
