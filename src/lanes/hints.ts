import { Client } from 'pg';
import { connectionSettings } from '../kit/db/database.ts';
import type { Logger } from '../kit/log.ts';
import { backoffMs } from '../kit/retry.ts';

const channel = 'svc_work';
const announceEveryMs = 20;
/**
 * One transaction, without the flush: a notification that a crash loses is no loss, and its commit holds a lock of the whole
 * database. Set for the transaction only: behind a pooler the session is somebody else's next.
 */
const notify = `SET LOCAL synchronous_commit = off; NOTIFY ${channel}`;

export interface Announcer {
  /** Tells the workers of other nodes that there is work: at most one NOTIFY every 20 ms (docs/invariants.md, 1). */
  announce(): void;
  close(): Promise<void>;
}

/** Notifies on a connection of its own; what is lost on the way, polling finds. */
export function createAnnouncer(url: string, log: Logger): Announcer {
  let client: Promise<Client> | undefined;
  let scheduled: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();
  let lastAt = -Infinity;

  function connected(): Promise<Client> {
    client ??= connect(url, 'svc announce', () => (client = undefined));
    return client;
  }

  async function send(): Promise<void> {
    try {
      await (await connected()).query(notify);
    } catch (error) {
      const broken = client;
      client = undefined;
      void broken?.then((open) => open.end()).catch(() => undefined);
      log.debug({ err: error }, 'a notification of work was lost; polling finds the work');
    }
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
      await client?.then((open) => open.end()).catch(() => undefined);
    },
  };
}

export interface Listener {
  close(): Promise<void>;
}

/** Calls `onHint` at every notification, and connects again for as long as it takes. */
export function createListener(url: string, log: Logger, onHint: () => void): Listener {
  let closed = false;
  let attempt = 0;
  let timer: NodeJS.Timeout | undefined;
  let client: Client | undefined;

  function again(): void {
    client = undefined;
    if (closed || timer) return;
    attempt += 1;
    timer = setTimeout(
      () => {
        timer = undefined;
        void listen();
      },
      100 + backoffMs(attempt, { baseMs: 200, capMs: 5_000 }),
    );
    timer.unref();
  }

  async function listen(): Promise<void> {
    try {
      const opened = await connect(url, 'svc listen', again);
      if (closed) return await opened.end();
      client = opened;
      opened.on('notification', onHint);
      await opened.query(`LISTEN ${channel}`);
      attempt = 0;
      // Whatever was announced while nobody listened.
      onHint();
    } catch (error) {
      log.debug({ err: error }, 'not listening for work; polling until the connection is back');
      again();
    }
  }

  const started = listen();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      await started;
      await client?.end().catch(() => undefined);
    },
  };
}

async function connect(url: string, name: string, onEnd: () => void): Promise<Client> {
  const client = new Client({
    ...connectionSettings(url),
    application_name: name,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  });
  // An error is followed by 'end'; without a listener it would end the process.
  client.on('error', () => undefined);
  client.once('end', onEnd);
  await client.connect();
  return client;
}
