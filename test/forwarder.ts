import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { failing, frames, refusal, statements } from './postgres-frames.ts';

/** A wire to the database that a test can cut. */
export interface Forwarder {
  /** The database's URL by way of this wire. */
  url: string;
  /** `refuse`: connections break and new ones are closed at once. `hang`: not a byte passes, nothing is closed. */
  cut(how: 'refuse' | 'hang'): void;
  /**
   * This share of the statements, also within transactions and of COMMITs, is not done by the database, which fails it with one of
   * these SQLSTATEs. `next` draws, from 0 to 1.
   */
  refuse(sqlStates: readonly string[], share: number, next?: () => number): void;
  /** The next COMMIT is made there, and its answer is lost with the connection. */
  loseCommit(): void;
  /** The next statement with this text, or with the last of these in their order, is made there. Its answer is lost with all connections, and new ones are closed at once. */
  loseWay(...texts: string[]): void;
  /** Once the transaction with the next statement with this text is committed, and answered, the way is lost as with `cut('refuse')`. */
  loseAfter(text: string): void;
  /** The next statement with this text, or with the last of these in their order, does not arrive: its connection breaks. */
  breakAt(...texts: string[]): void;
  /** How many connections were made. */
  count(): number;
  heal(): void;
  close(): Promise<void>;
}

const committed = Buffer.from('COMMIT\0');
const rollback = Buffer.from('ROLLBACK');
/** Between transactions, and in one that failed, by what a server says when it is ready. */
const [idle, failed]: (number | undefined)[] = [0x49, 0x45];

interface Wire {
  near: Socket;
  far: Socket;
}

/** Forwards TCP to the database server, which may listen on a Unix socket. */
export async function startForwarder(databaseUrl: string): Promise<Forwarder> {
  const target = new URL(databaseUrl);
  const folder = target.searchParams.get('host');
  const port = Number(target.port || 5432);
  const wires = new Set<Wire>();
  let state: 'open' | 'refuse' | 'hang' = 'open';
  let refuses: (() => string | undefined) | undefined;
  let losesCommit = false;
  let breaking = inTurn([]);
  let losing = inTurn([]);
  let last: Buffer | undefined;
  let count = 0;
  const breaksNow = (chunk: Buffer): boolean => state === 'refuse' || breaking(chunk);
  const losesNow = (chunk: Buffer): boolean => {
    if (!losesCommit || !chunk.includes(committed)) return false;
    losesCommit = false;
    return true;
  };
  /** Whether the answer to this is lost. */
  const losesWay = (bytes: Buffer): boolean => losing(bytes);
  /** Whether this transaction is the last. */
  const isLast = (bytes: Buffer): boolean => {
    if (!last || !bytes.includes(last)) return false;
    last = undefined;
    return true;
  };
  const refuseAll = (): void => {
    state = 'refuse';
    destroyAll();
  };
  const server = createServer((near) => {
    count += 1;
    if (state === 'refuse') {
      near.destroy();
      return;
    }
    const far = folder ? connect(join(folder, `.s.PGSQL.${port}`)) : connect(port, target.hostname);
    const wire = { near, far };
    wires.add(wire);
    carry(wire, {
      refuses: () => refuses?.(),
      isLost: losesNow,
      isBroken: breaksNow,
      losesWay,
      isLast,
      refuseAll,
      refuseNext: () => (state = 'refuse'),
    });
    if (state === 'hang') pause(wire);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => {
        other.destroy();
        wires.delete(wire);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.searchParams.delete('host');
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const destroyAll = (): void => {
    for (const { near, far } of wires) {
      near.resetAndDestroy();
      far.destroy();
    }
  };
  return {
    url: url.href,
    cut: (how) => {
      if (how === 'refuse') return refuseAll();
      state = how;
      for (const wire of wires) pause(wire);
    },
    refuse: (sqlStates, share, next = Math.random) => {
      refuses = () => (next() < share ? sqlStates[Math.floor(next() * sqlStates.length)] : undefined);
    },
    loseCommit: () => {
      losesCommit = true;
    },
    loseWay: (...texts) => {
      losing = inTurn(texts);
    },
    loseAfter: (text) => {
      last = Buffer.from(text);
    },
    breakAt: (...texts) => {
      breaking = inTurn(texts);
    },
    count: () => count,
    // Connections on the silent wire are broken.
    heal: () => {
      if (state !== 'open') destroyAll();
      state = 'open';
      refuses = undefined;
      losing = inTurn([]);
      last = undefined;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        destroyAll();
      }),
  };
}

/** Answers true for what has the last of the texts, once the others were seen before it; and then never again. */
function inTurn(texts: readonly string[]): (bytes: Buffer) => boolean {
  const left = [...texts];
  return (bytes) => {
    const [next] = left;
    if (next === undefined || !bytes.includes(next)) return false;
    left.shift();
    return left.length === 0;
  };
}

interface Harm {
  refuses: () => string | undefined;
  isLost: (chunk: Buffer) => boolean;
  isBroken: (chunk: Buffer) => boolean;
  losesWay: (statement: Buffer) => boolean;
  isLast: (statement: Buffer) => boolean;
  refuseAll: () => void;
  /** Whatever is asked from now on. */
  refuseNext: () => void;
}

/** Passes statement by statement, unless one is refused; answers as they come. */
function carry({ near, far }: Wire, harm: Harm): void {
  const { refuses, isLost, isBroken, losesWay, isLast, refuseAll, refuseNext } = harm;
  let status = idle;
  let isLosing = false;
  let isEnding = false;
  const take = statements();
  near.on('data', (chunk: Buffer) => {
    if (isBroken(chunk)) {
      near.resetAndDestroy();
      return;
    }
    for (const bytes of take(chunk)) {
      // What already failed fails by itself, and a ROLLBACK never does.
      const mayFail = bytes.isStatement && status !== failed && !bytes.all.includes(rollback);
      const sqlState = mayFail ? refuses() : undefined;
      if (bytes.isStatement) isLosing ||= losesWay(bytes.all);
      if (bytes.isStatement) isEnding ||= isLast(bytes.all);
      if (sqlState === undefined) far.write(bytes.all);
      else if (status === idle) near.write(refusal(sqlState));
      // The transaction fails there, too.
      else far.write(failing(sqlState));
    }
  });
  const split = frames(false);
  far.on('data', (chunk: Buffer) => {
    const isReady = (frame: Buffer): boolean => frame[0] === 0x5a;
    const found = split(chunk);
    for (const frame of found) if (isReady(frame)) status = frame[5];
    // It stands once the server is ready for the next one.
    if (isLosing) return found.some(isReady) ? refuseAll() : undefined;
    if (isEnding && chunk.includes(committed)) {
      isEnding = false;
      refuseNext();
    }
    if (isLost(chunk)) near.resetAndDestroy();
    else near.write(chunk);
  });
}

function pause({ near, far }: Wire): void {
  near.pause();
  far.pause();
}
