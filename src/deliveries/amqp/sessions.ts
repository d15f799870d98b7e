import type { Socket } from 'node:net';
import { databaseDialerOf } from '../../kit/http/egress.ts';
import type { Ground } from '../../kit/ground.ts';
import { secured } from '../../kit/http/secured.ts';
import { abortable } from './abortable.ts';
import { Session } from './session.ts';
import type { Access } from './wire.ts';

const idleMs = 10_000;

interface Shelf {
  opening: Promise<Session>;
  session?: Session;
  timer?: NodeJS.Timeout | undefined;
}

/** The open connections to brokers: one for each exchange and user, which all messages share. */
export class Sessions {
  readonly #shelves = new Map<string, Shelf>();
  readonly #openMs: number;
  #isClosed = false;

  constructor(openMs: number) {
    this.#openMs = openMs;
  }

  /** Whoever aborts the signal waits no longer; the connection stays for the others. */
  async use<T>(
    access: Access,
    egress: Ground['egress'],
    signal: AbortSignal,
    work: (session: Session) => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    const key = JSON.stringify(access);
    const shelf = this.#shelfOf(key, access, egress);
    const session = await abortable(shelf.opening, signal);
    session.users += 1;
    clearTimeout(shelf.timer);
    try {
      return await abortable(work(session), signal);
    } finally {
      session.users -= 1;
      this.#rest(key, shelf, session);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const shelves = [...this.#shelves.values()];
    this.#shelves.clear();
    await Promise.all(
      shelves.map(async ({ opening, timer }) => {
        clearTimeout(timer);
        await opening.then((session) => session.end()).catch(() => undefined);
      }),
    );
  }

  #shelfOf(key: string, access: Access, egress: Ground['egress']): Shelf {
    const known = this.#shelves.get(key);
    if (known && !known.session?.isBroken) return known;
    const shelf: Shelf = { opening: opened(access, egress, this.#openMs) };
    this.#shelves.set(key, shelf);
    void this.#settle(key, shelf);
    return shelf;
  }

  /** Nobody may want it any more when it opens. */
  async #settle(key: string, shelf: Shelf): Promise<void> {
    try {
      shelf.session = await shelf.opening;
      this.#rest(key, shelf, shelf.session);
    } catch {
      this.#forget(key, shelf);
    }
  }

  #rest(key: string, shelf: Shelf, session: Session): void {
    if (session.users > 0) return;
    if (session.isBroken || this.#isClosed) {
      this.#forget(key, shelf);
      session.destroy();
      return;
    }
    shelf.timer = setTimeout(() => {
      this.#forget(key, shelf);
      void session.end();
    }, idleMs).unref();
  }

  #forget(key: string, shelf: Shelf): void {
    if (this.#shelves.get(key) === shelf) this.#shelves.delete(key);
  }
}

async function opened(access: Access, egress: Ground['egress'], openMs: number): Promise<Session> {
  const signal = AbortSignal.timeout(openMs);
  const { dial, ca } = databaseDialerOf(egress);
  const socket = await dialled(access, dial, signal);
  try {
    const safe = access.isSecure ? await abortable(secured(socket, access.host, ca), signal) : socket;
    return await Session.open(access, safe, signal);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** A socket that comes when nobody waits any more is closed. */
function dialled(
  { host, port }: Access,
  dial: ReturnType<typeof databaseDialerOf>['dial'],
  signal: AbortSignal,
): Promise<Socket> {
  return abortable(
    new Promise((resolve, reject) => {
      dial({ hostname: host, protocol: 'http:', port: String(port) }, (error, socket) => {
        if (error) reject(error);
        else if (signal.aborted) socket.destroy();
        else resolve(socket);
      });
    }),
    signal,
  );
}
