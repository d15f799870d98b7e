import type { DatabaseDialer } from '../../kit/http/egress.ts';
import { Session, type Access } from './session.ts';

/** Connections of this process to one database at the most: there are other nodes, and the customer has work of his own. */
const mostPerDatabase = 4;
/** At rest, over all databases. */
const mostIdle = 100;
const idleMs = 10_000;

interface Shelf {
  /** In use, at rest and being opened. */
  count: number;
  idle: Resting[];
  /** Each is called when a session or the place of one is free. */
  waiting: Set<() => void>;
}

interface Resting {
  session: Session;
  timer: NodeJS.Timeout;
}

/** The open connections to the databases of destinations. Nothing is set in a session that outlives a transaction. */
export class Sessions {
  readonly #shelves = new Map<string, Shelf>();
  #idleCount = 0;
  #isClosed = false;

  /** The work has the session to itself. Whoever aborts the signal breaks it off. */
  async use<T>(
    access: Access,
    dialer: DatabaseDialer,
    signal: AbortSignal,
    work: (session: Session) => Promise<T>,
  ): Promise<T> {
    const key = JSON.stringify(access);
    const session = await this.#take(key, access, dialer, signal);
    const stop = (): void => session.destroy(reasonOf(signal));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      session.renew();
      return await work(session);
    } finally {
      signal.removeEventListener('abort', stop);
      this.#giveBack(key, session);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const resting = [...this.#shelves.values()].flatMap(({ idle }) => idle.splice(0));
    await Promise.all(
      resting.map(({ session, timer }) => {
        clearTimeout(timer);
        return session.end();
      }),
    );
  }

  async #take(key: string, access: Access, dialer: DatabaseDialer, signal: AbortSignal): Promise<Session> {
    for (;;) {
      signal.throwIfAborted();
      const shelf = this.#shelfOf(key);
      const resting = shelf.idle.pop();
      if (resting) {
        clearTimeout(resting.timer);
        this.#idleCount -= 1;
        if (!resting.session.isBroken) return resting.session;
        this.#forget(key, shelf);
      } else if (shelf.count < mostPerDatabase) {
        return this.#open(key, shelf, () => Session.open(access, dialer, signal));
      } else {
        await freed(shelf, signal);
      }
    }
  }

  async #open(key: string, shelf: Shelf, open: () => Promise<Session>): Promise<Session> {
    shelf.count += 1;
    try {
      return await open();
    } catch (error) {
      this.#forget(key, shelf);
      throw error;
    }
  }

  #giveBack(key: string, session: Session): void {
    const shelf = this.#shelfOf(key);
    if (session.isBroken || this.#isClosed || this.#idleCount >= mostIdle) {
      void session.end();
      this.#forget(key, shelf);
      return;
    }
    session.isUsed = true;
    const resting: Resting = { session, timer: setTimeout(() => this.#retire(key, resting), idleMs).unref() };
    shelf.idle.push(resting);
    this.#idleCount += 1;
    callOne(shelf);
  }

  #retire(key: string, resting: Resting): void {
    const shelf = this.#shelfOf(key);
    const at = shelf.idle.indexOf(resting);
    if (at < 0) return;
    shelf.idle.splice(at, 1);
    this.#idleCount -= 1;
    void resting.session.end();
    this.#forget(key, shelf);
  }

  #forget(key: string, shelf: Shelf): void {
    shelf.count -= 1;
    callOne(shelf);
    if (shelf.count === 0 && shelf.waiting.size === 0) this.#shelves.delete(key);
  }

  #shelfOf(key: string): Shelf {
    const known = this.#shelves.get(key);
    if (known) return known;
    const shelf: Shelf = { count: 0, idle: [], waiting: new Set() };
    this.#shelves.set(key, shelf);
    return shelf;
  }
}

function callOne({ waiting }: Shelf): void {
  const [first] = waiting;
  if (first) first();
}

function freed({ waiting }: Shelf, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      waiting.delete(wake);
      signal.removeEventListener('abort', stop);
      settle();
    };
    const wake = (): void => end(resolve);
    const stop = (): void => end(() => reject(reasonOf(signal)));
    waiting.add(wake);
    signal.addEventListener('abort', stop, { once: true });
  });
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
