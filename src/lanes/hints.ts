import type { Database } from '../kit/db/database.ts';
import type { Logger } from '../kit/log.ts';

const channel = 'svc_work';
const announceEveryMs = 20;

export interface Announcer {
  /** Tells the workers of other nodes that there is work: at most one NOTIFY every 20 ms (docs/invariants.md, 1). */
  announce(): void;
  close(): Promise<void>;
}

/** What is lost on the way, polling finds. */
export function createAnnouncer({ notices }: Pick<Database, 'notices'>, log: Logger): Announcer {
  let scheduled: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();
  let lastAt = -Infinity;

  async function send(): Promise<void> {
    await notices.notify(channel).catch((error: unknown) => {
      log.debug({ err: error }, 'a notification of work was lost; polling finds the work');
    });
  }

  return {
    announce() {
      if (scheduled) return;
      const waitMs = Math.max(0, lastAt + announceEveryMs - performance.now());
      scheduled = setTimeout(() => {
        scheduled = undefined;
        lastAt = performance.now();
        sending = sending.then(send);
      }, waitMs);
      scheduled.unref();
    },
    async close() {
      clearTimeout(scheduled);
      await sending;
    },
  };
}

/** Calls back at every announcement, and when one may have been missed. Answers how to stop. */
export function listenForWork({ notices }: Pick<Database, 'notices'>, onHint: () => void): () => void {
  return notices.listen(channel, () => onHint());
}
