import type { Database } from '../kit/db/database.ts';
import type { Logger } from '../kit/log.ts';
import { recordOperationsEnd, type OperationsEnded } from '../installations/index.ts';
import type { Ended } from './settlement.ts';

export interface InstallationStatus {
  note(ended: readonly Ended[]): void;
  close(): Promise<void>;
}

const flushEveryMs = 500;

/**
 * Tells the installations how their operations ended: a little later and once for many, since a row that every
 * operation of a customer updates would serialise them. What a crash loses, the next operations put right.
 */
export function createInstallationStatus(database: Database, log: Logger): InstallationStatus {
  const pending = new Map<string, OperationsEnded>();
  let flushing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    const ended = [...pending.values()];
    pending.clear();
    for (const one of ended) {
      try {
        await recordOperationsEnd(database, one);
      } catch (error) {
        log.debug({ err: error }, 'the status of an installation was not updated');
      }
    }
  }

  function schedule(): void {
    if (timer) return;
    timer = setTimeout(() => {
      timer = undefined;
      flushing = flushing.then(flush);
    }, flushEveryMs);
    timer.unref();
  }

  return {
    note(ended) {
      for (const { projectId, installationId, status } of ended) {
        // After an import two projects may have installations of one id.
        const key = `${projectId} ${installationId}`;
        const before = pending.get(key);
        pending.set(key, {
          projectId,
          installationId,
          last: status,
          ended: (before?.ended ?? 0) + 1,
          failed: (before?.failed ?? 0) + (status === 'failure' ? 1 : 0),
        });
      }
      if (pending.size > 0) schedule();
    },
    async close() {
      clearTimeout(timer);
      flushing = flushing.then(flush);
      await flushing;
    },
  };
}
