import type { LookupAddress, LookupOptions } from 'node:dns';
import { remember } from '../remember.ts';

/** Tells all addresses of a name, as dns.lookup does with `all`. */
export type Resolve = (
  hostname: string,
  options: LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * The system looks names up in a few threads, each busy until a name server answers or is given up, and everything that is dialled by
 * name waits for one. So names that nobody answers for must not have them all.
 */
export interface LookupLimits {
  /** Look-ups under way at once. */
  atOnce: number;
  /** Of them, those of one domain: its names may have answered so far, and fall silent together. */
  atOnceOfDomain: number;
  /** Of all, those of names whose last look-up failed, or is not remembered; names of other domains are never kept waiting by these. */
  atOnceOfNew: number;
  /** Of these, those of one domain. */
  atOnceOfNewInDomain: number;
  /** So long a caller waits. The thread may be busy for longer. */
  timeoutMs: number;
  keptMs: number;
  failureKeptMs: number;
}

/** Half of the threads of Node's pool look names up; two of them are left to the database, which asks by itself. */
export function limitsOf(threads: number): LookupLimits {
  const forNames = Math.floor((threads + 1) / 2);
  const atOnce = forNames > 4 ? forNames - 2 : forNames;
  return {
    atOnce,
    atOnceOfDomain: Math.max(1, Math.floor(atOnce / 2)),
    atOnceOfNew: Math.max(1, Math.floor(atOnce / 2)),
    atOnceOfNewInDomain: Math.max(1, Math.floor(atOnce / 4)),
    timeoutMs: 5_000,
    keptMs: 5_000,
    failureKeptMs: 1_000,
  };
}

type Callback = Parameters<Resolve>[2];
type Told = Parameters<Callback>;

interface Lookup {
  hostname: string;
  options: LookupOptions;
  domain: string;
  isNew: boolean;
  callbacks: Set<(...told: Told) => void>;
}

/** One look-up at once for each name, and a short memory of the answers. Whoever dials checks what it is told, each time. */
export function createLookups(resolve: Resolve, limits: LookupLimits): Resolve {
  const answers = new Map<string, { told: Told; until: number }>();
  const waiting = new Map<string, Lookup>();
  const underWay = new Map<string, Lookup>();
  const count = (is: (lookup: Lookup) => boolean): number => [...underWay.values()].filter(is).length;

  function mayBegin({ isNew, domain }: Lookup): boolean {
    if (underWay.size >= limits.atOnce) return false;
    if (count((other) => other.domain === domain) >= limits.atOnceOfDomain) return false;
    if (!isNew) return true;
    if (count((other) => other.isNew) >= limits.atOnceOfNew) return false;
    return count((other) => other.isNew && other.domain === domain) < limits.atOnceOfNewInDomain;
  }

  function begin(key: string, lookup: Lookup): void {
    waiting.delete(key);
    underWay.set(key, lookup);
    resolve(lookup.hostname, lookup.options, (...told) => {
      underWay.delete(key);
      const until = performance.now() + (told[0] ? limits.failureKeptMs : limits.keptMs);
      remember(answers, key, { told, until });
      for (const callback of lookup.callbacks) callback(...told);
      serve();
    });
  }

  function serve(): void {
    for (const [key, lookup] of waiting) {
      if (lookup.callbacks.size === 0) waiting.delete(key);
      else if (mayBegin(lookup)) begin(key, lookup);
    }
  }

  return (hostname, options, callback) => {
    const key = `${hostname} ${options.family ?? 0} ${options.hints ?? 0}`;
    const known = answers.get(key);
    if (known && performance.now() < known.until) {
      process.nextTick(callback, ...known.told);
      return;
    }
    const isNew = !known || known.told[0] !== null;
    const lookup: Lookup = underWay.get(key) ??
      waiting.get(key) ?? { hostname, options, domain: domainOf(hostname), isNew, callbacks: new Set() };
    lookup.callbacks.add(within(limits.timeoutMs, hostname, callback, (own) => lookup.callbacks.delete(own)));
    if (!underWay.has(key)) waiting.set(key, lookup);
    serve();
  };
}

/** A caller is told once: what was found, or that nothing was in time. */
function within(
  timeoutMs: number,
  hostname: string,
  callback: Callback,
  leave: (own: Callback) => void,
): Callback {
  const own: Callback = (...told) => {
    clearTimeout(timer);
    callback(...told);
  };
  const timer = setTimeout(() => {
    leave(own);
    const why = new Error(`${hostname} was not looked up within ${timeoutMs} ms`);
    callback(Object.assign(why, { code: 'EAI_AGAIN' }), [] as LookupAddress[]);
  }, timeoutMs);
  return own;
}

/** About: what has one owner, and what many share under a name such as `co.uk`. */
function domainOf(hostname: string): string {
  return hostname.split('.').slice(-2).join('.').toLowerCase();
}
