import type { IncomingHttpHeaders } from 'node:http';

/** One request as it came in. `status` is 0 until answered and when the answer was withheld. */
export type RequestEntry = {
  seq: number;
  at: number;
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  status: number;
  fault?: string;
  effectIds: number[];
};

/** One change of one record; `requestSeq` is 0 for changes made through the control API. */
export type Effect = {
  seq: number;
  requestSeq: number;
  at: number;
  kind: string;
  object: string;
  id: string;
  fields?: Record<string, unknown>;
};

export type EffectInput = Pick<Effect, 'kind' | 'object' | 'id' | 'fields'>;

export type Ledger = {
  /** False for load runs: nothing is kept. */
  enabled: boolean;
  open: (entry: Pick<RequestEntry, 'at' | 'method' | 'path' | 'headers' | 'body'>) => RequestEntry;
  /** Runs `work`; every effect recorded meanwhile belongs to `entry`. Work must be synchronous. */
  during: <T>(entry: RequestEntry, work: () => T) => T;
  effect: (input: EffectInput) => void;
  requests: (since?: number, path?: string) => RequestEntry[];
  effects: (since?: number, object?: string) => Effect[];
  clear: () => void;
};

const CAP = 200_000;
const BODY_LIMIT = 1024 * 1024;

/** Append-only record of requests and effects, the oldest dropped past 200,000. */
export function createLedger(now: () => number, enabled = true): Ledger {
  let requests: RequestEntry[] = [];
  let effects: Effect[] = [];
  let requestSeq = 0;
  let effectSeq = 0;
  let current: RequestEntry | null = null;
  function open(entry: Parameters<Ledger['open']>[0]): RequestEntry {
    requestSeq += 1;
    const full = {
      seq: requestSeq,
      ...entry,
      body: entry.body.slice(0, BODY_LIMIT),
      status: 0,
      effectIds: [],
    };
    if (ledger.enabled) requests = append(requests, full);
    return full;
  }
  function during<T>(entry: RequestEntry, work: () => T): T {
    current = entry;
    try {
      return work();
    } finally {
      current = null;
    }
  }
  function effect(input: EffectInput): void {
    if (!ledger.enabled) return;
    effectSeq += 1;
    current?.effectIds.push(effectSeq);
    effects = append(effects, { seq: effectSeq, requestSeq: current?.seq ?? 0, at: now(), ...input });
  }
  const ledger: Ledger = {
    enabled,
    open,
    during,
    effect,
    requests: (since = 0, path = '') => requests.filter((one) => one.seq > since && one.path.includes(path)),
    effects: (since = 0, object) =>
      effects.filter((one) => one.seq > since && (object === undefined || one.object === object)),
    clear: () => {
      requests = [];
      effects = [];
    },
  };
  return ledger;
}

function append<T>(list: T[], item: T): T[] {
  list.push(item);
  return list.length > CAP * 1.25 ? list.slice(-CAP) : list;
}
