import { Readable } from 'node:stream';
import { whoseOf, type Changes as Watchable, type News } from '../../kit/changes/index.ts';
import type { Logger } from '../../kit/log.ts';
import { Problem, problem } from '../../kit/problem.ts';
import type { Reach } from '../reach.ts';
import type { Changes } from './schema.ts';

/** Open streams of changes of this node. */
export interface Streams {
  /** Throws too-many-streams. */
  open(asked: Asked): Readable;
  /** Ends all, and each that is opened from now on. */
  close(): void;
}

export interface Asked {
  reach: Reach;
  /** By whom streams are counted. */
  caller: string;
  /** The last event that the client has seen. */
  lastId: string | undefined;
  /** Who asks now, by the same credentials; throws once they are good no more. */
  recheck(): Promise<Reach>;
}

export interface StreamLimits {
  streams: number;
  streamsPerCaller: number;
}

interface Open extends Asked {
  stream: Readable;
  /** Its reader does not keep up: what comes meanwhile is dropped, and made up for by `resync`. */
  laggingSince: number | undefined;
  lookedAt: number;
  stop(): void;
}

const times = {
  tickMs: 1_000,
  /** A sign of life, and the next look at the credentials. */
  lookEveryMs: 10_000,
  longestLagMs: 60_000,
};
/** What waits for a reader in this process; sockets hold some more. */
const bufferBytes = 16 * 1024;
const resync = 'event: resync\ndata: {}\n\n';
const heartbeat = ': \n\n';

export function createStreams(changes: Watchable, limits: StreamLimits, log: Pick<Logger, 'error'>): Streams {
  const open = new Set<Open>();
  const perCaller = new Map<string, number>();
  const written = createWriter();
  let isClosed = false;
  let ticking: NodeJS.Timeout | undefined;

  function end(one: Open): void {
    if (!open.delete(one)) return;
    one.stop();
    const left = (perCaller.get(one.caller) ?? 1) - 1;
    if (left > 0) perCaller.set(one.caller, left);
    else perCaller.delete(one.caller);
    if (!one.stream.destroyed) one.stream.push(null);
    if (open.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  }

  function tick(): void {
    const now = performance.now();
    for (const one of open) {
      if (now - (one.laggingSince ?? now) > times.longestLagMs) one.stream.destroy();
      if (now - one.lookedAt < times.lookEveryMs) continue;
      one.lookedAt = now;
      write(one, heartbeat);
      lookAgain(one, () => end(one)).catch((error: unknown) => {
        log.error({ err: error }, 'a stream was not ended with its credentials');
      });
    }
  }

  return {
    open(asked) {
      const count = perCaller.get(asked.caller) ?? 0;
      refuseBeyond(limits, open.size, count);
      const one = begin(asked);
      if (isClosed) {
        one.stream.push(null);
        return one.stream;
      }
      open.add(one);
      perCaller.set(asked.caller, count + 1);
      one.stream.once('close', () => end(one));
      const { projectId } = asked.reach;
      one.stop = changes.watch(projectId, asked.lastId, (news) => {
        const text = news ? written(asked.reach, news) : resync;
        if (text !== undefined) write(one, text);
      });
      ticking ??= setInterval(tick, times.tickMs).unref();
      return one.stream;
    },
    close() {
      isClosed = true;
      for (const one of open) end(one);
    },
  };
}

function refuseBeyond({ streams, streamsPerCaller }: StreamLimits, inAll: number, ofCaller: number): void {
  if (ofCaller < streamsPerCaller && inAll < streams) return;
  const detail =
    ofCaller >= streamsPerCaller
      ? `These credentials hold ${ofCaller} streams open at this node.`
      : `${inAll} streams are open at this node.`;
  throw problem('too-many-streams', { detail, retryAfterSeconds: 30 });
}

function begin(asked: Asked): Open {
  const one: Open = {
    ...asked,
    stream: new Readable({
      highWaterMark: bufferBytes,
      read() {
        if (one.laggingSince === undefined) return;
        one.laggingSince = undefined;
        write(one, resync);
      },
    }),
    laggingSince: undefined,
    // Not all at once, when many came at once.
    lookedAt: performance.now() - Math.random() * (times.lookEveryMs / 2),
    stop: () => undefined,
  };
  // How long a client waits before it comes back: not all at once either.
  one.stream.push(`retry: ${1_000 + Math.floor(Math.random() * 2_000)}\n\n`);
  return one;
}

function write(one: Open, text: string): void {
  if (one.laggingSince !== undefined || one.stream.destroyed || one.stream.readableEnded) return;
  if (!one.stream.push(text)) one.laggingSince = performance.now();
}

/** Ends with the credentials, and when they reach something else; not because they cannot be looked at now. */
async function lookAgain(one: Open, end: () => void): Promise<void> {
  try {
    const { projectId, groupRef } = await one.recheck();
    if (projectId !== one.reach.projectId || groupRef !== one.reach.groupRef) end();
  } catch (error) {
    if (error instanceof Problem && error.status < 500) end();
  }
}

/** What one caller is told of the news, as text; undefined: nothing. Callers who see the same share it. */
function createWriter(): (reach: Reach, news: News) => string | undefined {
  let latest: News | undefined;
  let texts = new Map<string, string | undefined>();
  return ({ projectId, groupRef }, news) => {
    if (news !== latest) [latest, texts] = [news, new Map()];
    const key = groupRef ?? '';
    const kept = `${groupRef === undefined} ${key}`;
    if (!texts.has(kept)) {
      const whose = groupRef === undefined ? undefined : whoseOf(projectId, groupRef);
      texts.set(kept, textOf(news, whose));
    }
    return texts.get(kept);
  };
}

function textOf({ id, changes, more }: News, whose: string | undefined): string | undefined {
  const seen = whose === undefined ? changes : changes.filter((one) => one.whose === whose);
  // Without a group it may be of any.
  const moreSeen = more.filter((one) => [undefined, one.whose].includes(whose) || one.whose === undefined);
  if (seen.length === 0 && moreSeen.length === 0) return undefined;
  const data: Changes = {
    changes: seen.map(({ type, id: changed, status }) =>
      status === undefined ? { type, id: changed } : { type, id: changed, status },
    ),
    more: [...new Set(moreSeen.map(({ type }) => type))],
  };
  return `id: ${id}\nevent: change\ndata: ${JSON.stringify(data)}\n\n`;
}
