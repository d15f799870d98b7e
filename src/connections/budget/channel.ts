import { Client } from 'pg';
import { connectionSettings } from '../../kit/db/database.ts';
import type { Logger } from '../../kit/log.ts';
import { backoffMs } from '../../kit/retry.ts';
import type { StoredClosure } from './store.ts';

const channel = 'svc_budget';
/** A notification takes less than 8,000 bytes; one closure takes 90. */
const closuresPerMessage = 80;

export interface BudgetChannel {
  /** Tells the other nodes; what is lost on the way, they find by polling. Never rejects. */
  send(closures: readonly StoredClosure[]): Promise<void>;
  close(): Promise<void>;
}

/** One connection that listens for closed windows and announces them; connects again for as long as it takes. */
export function openBudgetChannel(
  url: string,
  log: Logger,
  onClosures: (closures: StoredClosure[]) => void,
): BudgetChannel {
  let closed = false;
  let attempt = 0;
  let timer: NodeJS.Timeout | undefined;
  let client: Promise<Client> = connect();
  client.catch(again);

  async function connect(): Promise<Client> {
    const opened = new Client({
      ...connectionSettings(url),
      application_name: 'svc budget',
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    });
    // An error is followed by 'end'; without a listener it would end the process.
    opened.on('error', () => undefined);
    await opened.connect();
    opened.once('end', again);
    opened.on('notification', ({ payload }) => onClosures(readMessage(payload ?? '')));
    await opened.query(`LISTEN ${channel}`);
    attempt = 0;
    return opened;
  }

  function again(): void {
    if (closed || timer) return;
    attempt += 1;
    timer = setTimeout(
      () => {
        timer = undefined;
        client = connect();
        client.catch(again);
      },
      100 + backoffMs(attempt, { baseMs: 200, capMs: 5_000 }),
    );
    timer.unref();
  }

  return {
    async send(closures) {
      try {
        const open = await client;
        for (let i = 0; i < closures.length; i += closuresPerMessage) {
          const message = writeMessage(closures.slice(i, i + closuresPerMessage));
          // Without the flush: a notification that a crash loses is no loss, and its commit holds a lock of the whole database.
          await open.query(
            `SET LOCAL synchronous_commit = off; NOTIFY ${channel}, ${open.escapeLiteral(message)}`,
          );
        }
      } catch (error) {
        log.debug({ err: error }, 'a closed window was not announced; polling finds it');
      }
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await client.then((open) => open.end()).catch(() => undefined);
    },
  };
}

/** `project/connection/until/lockedOut`, separated by commas. */
export function writeMessage(closures: readonly StoredClosure[]): string {
  return closures
    .map(({ projectId, connectionId, until, lockedOut }) =>
      [projectId, connectionId, Math.round(until), lockedOut ? 1 : 0].join('/'),
    )
    .join(',');
}

/** Leaves out what cannot be read: a newer node may say more. */
export function readMessage(message: string): StoredClosure[] {
  return message.split(',').flatMap((part) => {
    const [projectId, connectionId, until, lockedOut] = part.split('/');
    if (!projectId || !connectionId || !Number(until)) return [];
    return [{ projectId, connectionId, until: Number(until), lockedOut: lockedOut === '1' }];
  });
}
