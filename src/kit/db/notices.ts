import type { Client } from 'pg';
import { Connection, keepAliveMs } from './connection.ts';
import { problem } from '../problem.ts';
import { backoffMs } from '../retry.ts';

/**
 * Notifications between processes, over one connection of this one. It is opened at first use and again for as long as it
 * takes. What is told meanwhile is lost: whoever listens polls, too.
 */
export interface Notices {
  /**
   * Calls back at every notification of the channel; without a payload also each time that listening begins, since something
   * may have been told before. Answers how to stop.
   */
  listen(channel: string, heard: (payload?: string) => void): () => void;
  /** Rejects when it was not sent. A payload takes less than 8,000 bytes. */
  notify(channel: string, payload?: string): Promise<void>;
  close(): Promise<void>;
}

/** A sign that the server is gone without closing the connection. */
const answerTimeoutMs = 10_000;
/**
 * One transaction, without the flush: a notification that a crash loses is no loss, and its commit holds a lock of the whole
 * database. Set for the transaction only: behind a pooler the session is somebody else's next.
 */
const unflushed = 'SET LOCAL synchronous_commit = off';

interface Listening {
  channel: string;
  heard(payload?: string): void;
  /** The connection that listens for it. */
  on?: Client;
}

interface State {
  url: string;
  listening: Set<Listening>;
  latest: Client | undefined;
  /** The latest, once it is there. */
  connected: Promise<Client> | undefined;
  /** Connections that failed since one did not. */
  failures: number;
  /** Until the next connection. */
  rest: NodeJS.Timeout | undefined;
  closed: boolean;
}

export function createNotices(url: string): Notices {
  const state: State = {
    url,
    listening: new Set(),
    latest: undefined,
    connected: undefined,
    failures: 0,
    rest: undefined,
    closed: false,
  };
  return {
    listen(channel, heard) {
      const one: Listening = { channel, heard };
      state.listening.add(one);
      ask(state, (client) => attend(state, client)).catch(() => undefined);
      return () => void state.listening.delete(one);
    },
    notify: (channel, payload) =>
      ask(state, (client) => {
        const told = payload === undefined ? '' : `, ${client.escapeLiteral(payload)}`;
        return client.query(`${unflushed}; NOTIFY ${channel}${told}`);
      }),
    async close() {
      state.closed = true;
      clearTimeout(state.rest);
      await state.connected?.then((client) => client.end()).catch(() => undefined);
    },
  };
}

async function ask(state: State, work: (client: Client) => Promise<unknown>): Promise<void> {
  if (state.closed || state.rest) throw problem('database-unavailable');
  const client = await (state.connected ??= connect(state));
  try {
    await work(client);
  } catch (error) {
    giveUp(state, client);
    throw error;
  }
}

async function connect(state: State): Promise<Client> {
  const client = new Connection({
    connectionString: state.url,
    application_name: 'svc notices',
    connectionTimeoutMillis: 5_000,
    query_timeout: answerTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  });
  state.latest = client;
  client.on('notification', ({ channel, payload }) => {
    for (const one of state.listening) if (one.channel === channel) one.heard(payload);
  });
  try {
    await client.connect();
    client.once('end', () => giveUp(state, client));
    await attend(state, client);
  } catch (error) {
    giveUp(state, client);
    throw error;
  }
  state.failures = 0;
  return client;
}

/** Listens for what this connection does not listen for yet. */
async function attend({ listening }: State, client: Client): Promise<void> {
  for (const one of listening) {
    if (one.on === client) continue;
    one.on = client;
    await client.query(`LISTEN ${one.channel}`);
    one.heard();
  }
}

/** What this connection does not do, the next one does. */
function giveUp(state: State, client: Client): void {
  client.end().catch(() => undefined);
  if (state.closed || client !== state.latest) return;
  const restMs = 100 + backoffMs((state.failures += 1), { baseMs: 200, capMs: 5_000 });
  const rest = setTimeout(() => {
    state.rest = undefined;
    if (state.listening.size > 0) ask(state, (next) => attend(state, next)).catch(() => undefined);
  }, restMs);
  Object.assign(state, { latest: undefined, connected: undefined, rest });
  rest.unref();
}
