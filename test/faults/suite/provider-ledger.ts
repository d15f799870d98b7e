import { simulator, type SimulatorEffect, type SimulatorRequest } from '../../customer.ts';
import { nameOfFault } from './provider-faults.ts';
import { deletionOf, markersIn } from './workload.ts';

/** One change of one record at a provider. */
export interface Effect {
  marker: string;
  kind: string;
  id: string;
  /** Whether it filled the field that is written only where it is empty. */
  filled: boolean;
}

/** When requests with a marker came, in milliseconds. */
export interface Span {
  first: number;
  last: number;
}

/** What happened at one simulator, as far as it was read; the simulators are processes of their own. */
export interface ProviderLedger {
  /** In the order in which they happened. */
  effects: Effect[];
  /** Markers of writes whose answer a fault took away, whether they were done or not. */
  lost: Set<string>;
  /** By marker. */
  asked: Map<string, Span>;
  faults: Record<string, number>;
  /** Requests in all. */
  calls: number;
  read(): Promise<void>;
}

type Request = SimulatorRequest & { at: number; fault?: string };

export function createProviderLedger(url: string): ProviderLedger {
  let requestSeq = 0;
  let effectSeq = 0;
  const ledger: ProviderLedger = {
    effects: [],
    lost: new Set(),
    asked: new Map(),
    faults: {},
    calls: 0,
    async read() {
      const [{ requests }, { effects }] = await Promise.all([
        simulator<{ requests: Request[] }>(url, 'GET', `/requests?since=${requestSeq}`),
        simulator<{ effects: SimulatorEffect[] }>(url, 'GET', `/effects?since=${effectSeq}`),
      ]);
      ledger.calls += requests.length;
      requestSeq = requests.at(-1)?.seq ?? requestSeq;
      effectSeq = effects.at(-1)?.seq ?? effectSeq;
      for (const request of requests) noteRequest(ledger, request);
      for (const effect of effects) noteEffect(ledger, effect);
    },
  };
  return ledger;
}

function noteEffect(ledger: ProviderLedger, { kind, object, id, fields }: SimulatorEffect): void {
  const [marker] = kind === 'delete' ? [deletionOf(object, id)] : markersIn(JSON.stringify(fields));
  if (marker === undefined) return;
  const filled = kind === 'update' && ('phone' in fields || 'Phone' in fields);
  ledger.effects.push({ marker, kind, id, filled });
}

function noteRequest({ faults, lost, asked }: ProviderLedger, request: Request): void {
  const { at, fault, status } = request;
  const markers = markersOf(request);
  for (const marker of markers) asked.set(marker, { first: asked.get(marker)?.first ?? at, last: at });
  if (fault === undefined) return;
  const name = nameOfFault(fault, status);
  faults[name] = (faults[name] ?? 0) + 1;
  // These say that nothing was done; whatever else goes wrong leaves it open.
  if ([400, 403, 423, 429].includes(status)) return;
  for (const marker of markers) lost.add(marker);
}

const recordPath = /\/(?:objects|sobjects)\/(\w+)\/(\w+)$/;

function markersOf({ method, path, body }: Request): string[] {
  const [, object, id] = recordPath.exec(path) ?? [];
  if (method === 'DELETE' && object !== undefined && id !== undefined) return [deletionOf(object, id)];
  return markersIn(body);
}
