import { simulator, type SimulatorEffect, type SimulatorRequest } from '../../customer.ts';
import { markersIn } from './workload.ts';

/** What happened at one simulator, as far as it was read; the simulators are processes of their own. */
export interface ProviderLedger {
  /** In the order in which they happened. */
  effects: { marker: string; kind: string; object: string; id: string }[];
  /** Markers of writes whose answer a fault took away, whether they were done or not. */
  lost: Set<string>;
  faults: Record<string, number>;
  /** Requests in all. */
  calls: number;
  read(): Promise<void>;
}

type Request = SimulatorRequest & { fault?: string };

export function createProviderLedger(url: string): ProviderLedger {
  let requestSeq = 0;
  let effectSeq = 0;
  const ledger: ProviderLedger = {
    effects: [],
    lost: new Set(),
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
      for (const request of requests) noteFault(ledger, request);
      for (const { kind, object, id, fields } of effects) {
        const [marker] = markersIn(JSON.stringify(fields ?? {}));
        if (marker !== undefined) ledger.effects.push({ marker, kind, object, id });
      }
    },
  };
  return ledger;
}

function noteFault({ faults, lost }: ProviderLedger, { fault, status, body }: Request): void {
  if (fault === undefined) return;
  const name = fault === 'status' ? `status ${status}` : fault;
  faults[name] = (faults[name] ?? 0) + 1;
  // These say that nothing was done; whatever else goes wrong leaves it open.
  if ([400, 403, 423, 429].includes(status)) return;
  for (const marker of markersIn(body)) lost.add(marker);
}
