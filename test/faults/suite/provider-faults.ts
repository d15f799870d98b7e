import { simulator } from '../../customer.ts';
import { lateEffectMs, type Settings } from './settings.ts';

/** A fault of the simulators, and its part of all faults. */
interface Weighed {
  weight: number;
  fault: { kind: string; status?: number; effect?: boolean; body?: unknown; ms?: number };
}

/** Half of all faults: the call takes effect, and its answer is lost. */
const doneAndLost: Weighed[] = [
  { weight: 13, fault: { kind: 'reset-after' } },
  { weight: 8, fault: { kind: 'status', status: 500, effect: true } },
  { weight: 5, fault: { kind: 'status', status: 503, effect: true } },
  { weight: 12, fault: { kind: 'truncate' } },
  { weight: 8, fault: { kind: 'malformed' } },
  { weight: 4, fault: { kind: 'hang', effect: true } },
];
/** Answers that say that nothing was done and that it may be tried again. */
const refusal: Record<'hubspot' | 'salesforce', Weighed> = {
  hubspot: { weight: 10, fault: { kind: 'status', status: 423, body: { message: 'locked' } } },
  salesforce: {
    weight: 10,
    fault: { kind: 'status', status: 400, body: [{ errorCode: 'UNABLE_TO_LOCK_ROW', message: 'locked' }] },
  },
};
/** The other half: the call has no effect; some answers say so. */
const notDone: Weighed[] = [
  { weight: 14, fault: { kind: 'reset-before' } },
  { weight: 13, fault: { kind: 'status', status: 500 } },
  { weight: 5, fault: { kind: 'status', status: 503 } },
  { weight: 7, fault: { kind: 'html', status: 502 } },
  { weight: 4, fault: { kind: 'hang' } },
];
/** The providers' ways of saying "too many", for the shortest window that they know. */
const tooMany: Record<'hubspot' | 'salesforce', Weighed> = {
  hubspot: {
    weight: 2,
    fault: {
      kind: 'status',
      status: 429,
      body: { status: 'error', errorType: 'RATE_LIMIT', policyName: 'SECONDLY', message: 'slow down' },
    },
  },
  salesforce: {
    weight: 2,
    fault: {
      kind: 'status',
      status: 403,
      body: [{ errorCode: 'REQUEST_LIMIT_EXCEEDED', message: 'ConcurrentRequests Limit exceeded.' }],
    },
  },
};

/** Writes; the calls that look for a lost one are spared half of the faults, since a synchronous write asks only thrice. */
const writes: Record<'hubspot' | 'salesforce', string> = {
  hubspot: String.raw`^/crm/v3/objects/\w+(/batch/(create|update|upsert)|/\d+)?$`,
  salesforce: String.raw`^/services/data/v[\d.]+/(sobjects|composite)/`,
};
/** Creates only: a late change of a record would overtake a newer one, which no platform can prevent. */
const creates: Record<'hubspot' | 'salesforce', string> = {
  hubspot: String.raw`^/crm/v3/objects/\w+(/batch/create)?$`,
  salesforce: String.raw`^/services/data/v[\d.]+/(sobjects/\w+|composite/sobjects)$`,
};
/** Performed after the caller has given up: before svc looks for it, and after it looked, but before it stops to expect it. */
const late: Weighed[] = [
  { weight: 2, fault: { kind: 'late', ms: 2_600 } },
  { weight: 2, fault: { kind: 'late', ms: lateEffectMs - 1_000 } },
];
const lookUps: Record<'hubspot' | 'salesforce', string> = {
  hubspot: '/batch/read',
  salesforce: '/query',
};

export function nameOfFault(kind: string, status: number | undefined): string {
  return kind === 'status' ? `status ${status}` : kind;
}

/** What befalls the calls of mixed traffic. */
export const namesOfFaults: readonly string[] = [
  ...new Set(
    [...doneAndLost, ...notDone, ...Object.values(refusal), ...Object.values(tooMany), ...late].map(
      ({ fault }) => nameOfFault(fault.kind, fault.status),
    ),
  ),
];

/** Makes this share of a simulator's calls fail from now on (seeded). */
export async function setFaults(
  url: string,
  provider: 'hubspot' | 'salesforce',
  { faultRate: rate, traffic }: Settings,
): Promise<void> {
  const all = {
    mixed: [...doneAndLost, ...notDone, refusal[provider], tooMany[provider]],
    'plain creates': [...doneAndLost, ...notDone],
    // A refusal is known at once: a node that wakes up records it before it knows that it lost its lane.
    'keyed creates': [refusal[provider]],
    upserts: notDone,
  }[traffic];
  await simulator(url, 'DELETE', '/faults');
  const sum = all.reduce((total, { weight }) => total + weight, 0);
  for (const method of ['POST', 'PATCH', 'DELETE'])
    await addRules(url, all, (weight) => ({
      method,
      path: writes[provider],
      probability: (weight / sum) * rate,
    }));
  if (traffic === 'mixed')
    await addRules(url, late, (weight) => ({
      method: 'POST',
      path: creates[provider],
      probability: (weight / sum) * rate,
    }));
  const quick = notDone.filter(({ fault }) => fault.kind !== 'hang');
  await addRules(url, quick, (weight) => ({ path: lookUps[provider], probability: (weight / sum) * rate }));
}

/** Nothing that this simulator is asked is answered from now on, until its faults are set again. */
export async function hang(url: string): Promise<void> {
  await simulator(url, 'DELETE', '/faults');
  await addRules(url, [{ weight: 1, fault: { kind: 'hang' } }], () => ({ path: '/' }));
}

async function addRules(
  url: string,
  faults: Weighed[],
  rule: (weight: number) => Record<string, unknown>,
): Promise<void> {
  for (const { weight, fault } of faults)
    await simulator(url, 'POST', '/faults', { ...rule(weight), fault, times: 1e9 });
}
