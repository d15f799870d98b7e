import type { Database } from '../../kit/db/database.ts';
import type { Logger } from '../../kit/log.ts';
import type { StoredClosure } from './store.ts';

const channel = 'svc_budget';
/** A notification takes less than 8,000 bytes; one closure takes 110. */
const closuresPerMessage = 65;

export interface BudgetChannel {
  /** Tells the other nodes; what is lost on the way, they find by polling. Never rejects. */
  send(closures: readonly StoredClosure[]): Promise<void>;
  close(): void;
}

/** Listens for closed windows, and announces them. */
export function openBudgetChannel(
  { notices }: Pick<Database, 'notices'>,
  log: Logger,
  onClosures: (closures: StoredClosure[]) => void,
): BudgetChannel {
  const stop = notices.listen(channel, (message) => onClosures(readMessage(message ?? '')));
  return {
    async send(closures) {
      try {
        for (let i = 0; i < closures.length; i += closuresPerMessage)
          await notices.notify(channel, writeMessage(closures.slice(i, i + closuresPerMessage)));
      } catch (error) {
        log.debug({ err: error }, 'a closed window was not announced; polling finds it');
      }
    },
    close: stop,
  };
}

/** `project/connection/until/lockedOut/generation`, separated by commas. */
export function writeMessage(closures: readonly StoredClosure[]): string {
  return closures
    .map(({ projectId, connectionId, until, lockedOut, generation }) =>
      [projectId, connectionId, Math.round(until), lockedOut ? 1 : 0, generation].join('/'),
    )
    .join(',');
}

/** Leaves out what cannot be read: a newer node may say more, and an older one does not say of which credentials. */
export function readMessage(message: string): StoredClosure[] {
  return message.split(',').flatMap((part) => {
    const [projectId, connectionId, until, lockedOut, counted = 0] = part.split('/');
    if (!projectId || !connectionId || !Number(until)) return [];
    const [end, generation] = [Number(until), Number(counted) || 0];
    return [{ projectId, connectionId, until: end, lockedOut: lockedOut === '1', generation }];
  });
}
