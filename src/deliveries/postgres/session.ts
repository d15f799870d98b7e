import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Client, Connection, type ClientConfig, type QueryResult } from 'pg';
import type { DatabaseDialer } from '../../kit/http/egress.ts';
import { Frames } from './frames.ts';
import type { Place } from './check.ts';

/** Where to, as whom. */
export interface Access extends Place {
  password: string;
}

const goodByeMs = 1_000;

export type TableRow = Record<string, unknown>;

/** One connection to a database that somebody else runs. */
export class Session {
  readonly #client: Client;
  readonly #connection: CheckedConnection;
  #isBroken = false;
  /** It served before, so that it may have been lost at rest. */
  isUsed = false;

  private constructor(client: Client, connection: CheckedConnection) {
    this.#client = client;
    this.#connection = connection;
    client.on('error', () => (this.#isBroken = true));
    client.on('end', () => (this.#isBroken = true));
  }

  /** Dials, and logs in. Whoever aborts the signal ends both. */
  static async open(access: Access, dialer: DatabaseDialer, signal: AbortSignal): Promise<Session> {
    const socket = await dialled(access, dialer, signal);
    const stop = (): unknown => socket.destroy(asError(signal.reason));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    try {
      const settings = settingsOf(access, socket, dialer.ca);
      const connection = new CheckedConnection(settings);
      const client = new Client({ ...settings, connection } as ClientConfig);
      const session = new Session(client, connection);
      await client.connect();
      return session;
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Begins to serve somebody else. */
  renew(): void {
    this.#connection.frames.renew();
  }

  /** One statement with its values. */
  async rows(text: string, values: readonly unknown[]): Promise<TableRow[]> {
    const result = await this.#client.query<TableRow>(text, values as unknown[]);
    return result.rows;
  }

  /** Statements without values, sent together; the rows of the last one. */
  async script(statements: readonly string[]): Promise<TableRow[]> {
    const results = (await this.#client.query(statements.join(';\n'))) as unknown as QueryResult<TableRow>[];
    return [results].flat().at(-1)?.rows ?? [];
  }

  destroy(error?: Error): void {
    this.#isBroken = true;
    this.#connection.stream.destroy(error);
  }

  /** Says good-bye, and does not wait long for the answer. */
  async end(): Promise<void> {
    const timer = setTimeout(() => this.destroy(), goodByeMs);
    await this.#client.end().catch(() => undefined);
    clearTimeout(timer);
  }
}

/** A listener as the driver adds it to the stream that it reads. */
type Listen = (event: string, listener: (part: Buffer) => void) => unknown;

interface DriverConnection {
  attachListeners(stream: { on: Listen }): void;
}

/** The driver's own, which reads only what {@link Frames} let through. */
class CheckedConnection extends Connection {
  readonly frames = new Frames();

  attachListeners(stream: Duplex): void {
    const on: Listen = (event, listener) =>
      stream.on(event, event === 'data' ? (part: Buffer) => this.#pass(part, stream, listener) : listener);
    (Connection.prototype as unknown as DriverConnection).attachListeners.call(this, { on });
  }

  #pass(part: Buffer, stream: Duplex, listener: (part: Buffer) => void): void {
    if (stream.destroyed) return;
    try {
      listener(this.frames.take(part));
    } catch (error) {
      stream.destroy(asError(error));
    }
  }
}

/** Everything is named: what is not, the driver takes from the environment of the process, which holds passwords. */
function settingsOf(
  { host, port, user, database, password, sslMode }: Access,
  socket: Socket,
  ca: DatabaseDialer['ca'],
): ClientConfig {
  // The driver connects what it is given.
  const connected = Object.assign(socket, {
    connect: () => {
      queueMicrotask(() => socket.emit('connect'));
      return socket;
    },
  });
  return {
    host,
    port,
    user,
    database,
    password,
    application_name: 'svc',
    client_encoding: 'UTF8',
    sslnegotiation: 'postgres',
    stream: () => connected,
    ssl: sslMode === 'disable' ? false : tlsOf(sslMode, ca),
  };
}

function tlsOf(mode: Place['sslMode'], ca: DatabaseDialer['ca']): NonNullable<ClientConfig['ssl']> {
  return {
    ...(ca ? { ca: [...ca] } : {}),
    rejectUnauthorized: mode !== 'require',
    ...(mode === 'verify-full' ? {} : { checkServerIdentity: () => undefined }),
  };
}

/** A socket that comes when nobody waits any more is closed. */
function dialled({ host, port }: Place, { dial }: DatabaseDialer, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(asError(signal.reason));
    if (signal.aborted) return stop();
    signal.addEventListener('abort', stop, { once: true });
    dial({ hostname: host, protocol: 'http:', port: String(port) }, (error, socket) => {
      signal.removeEventListener('abort', stop);
      if (error) reject(error);
      else if (signal.aborted) socket.destroy();
      else resolve(socket);
    });
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
