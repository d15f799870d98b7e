import type { Database } from '../kit/db/database.ts';
import type { Logger } from '../kit/log.ts';
import { rotateAuditLog } from './store.ts';

/** Keeps the months of the audit log ahead, and drops the old ones. */
interface AuditKeeper {
  start(): void;
  stop(): Promise<void>;
}

const everyMs = 60 * 60_000;

export function createAuditKeeper(
  { database, log }: { database: Database; log: Logger },
  keepDays: number,
): AuditKeeper {
  let timer: NodeJS.Timeout | undefined;
  let rotating: Promise<void> | undefined;
  const rotate = (): void => {
    rotating = rotateAuditLog(database, keepDays).catch((error: unknown) => {
      // The months are a year ahead: the next round is soon enough.
      log.warn({ err: error }, 'the months of the audit log were not looked after; it is tried again');
    });
  };
  return {
    start() {
      rotate();
      timer = setInterval(rotate, everyMs);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await rotating;
    },
  };
}
