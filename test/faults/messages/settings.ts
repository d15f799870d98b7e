import type { Passes } from '../suite/chaos.ts';
import type { Disruption, Settings } from '../suite/settings.ts';

/** The size of a part: in `npm test`, in `npm run test:faults`, or with `--long`. */
export type Size = 'small' | 'usual' | 'long';

interface Common extends Disruption, Pick<Settings, 'skewMs'> {
  /** The share of the receiver's answers that are faults. */
  receiverFaults: number;
  /** Where nodes are cut off, each at least `perPoint` times. */
  passes: Passes;
}

export interface ReadSettings extends Common {
  contacts: number;
  /** Ticks of the schedule while there are changes and faults. */
  ticks: number;
  /** Between two ticks, and how long the provider's index is late, at the least and the most. */
  tickMs: number;
  lagMs: [least: number, most: number];
  /** The share of the provider's answers that go wrong. */
  providerFaults: number;
}

export interface DeliverySettings extends Common {
  /** Messages of records, and of events. */
  webhooks: number;
  notifications: number;
  endpoints: number;
  /** Messages and events to a file, and how often the node that writes it dies. */
  files: number;
  fileKills: number;
}

const common = {
  readers: 0,
  jumps: 0,
  losses: 0,
  spared: 0,
  paceMs: 1_000,
  providerCallMs: 2_000,
  freezeMs: 2_600,
  silenceMs: 4_000,
  skewMs: 90_000,
} as const;
const few = {
  ...common,
  kills: 3,
  perPoint: 1,
  stops: 1,
  terminations: 1,
  databaseCrashes: 0,
  silences: 0,
  refusals: 0,
  outages: 0,
};
const some = {
  ...common,
  kills: 30,
  perPoint: 4,
  stops: 3,
  terminations: 3,
  databaseCrashes: 1,
  silences: 1,
  refusals: 2,
  outages: 1,
};
const many = {
  ...common,
  kills: 150,
  perPoint: 20,
  stops: 20,
  terminations: 10,
  databaseCrashes: 10,
  silences: 4,
  refusals: 15,
  outages: 5,
};

const ofLanes = { 'after-claim': 4, 'after-mark': 20, 'before-record': 20, 'after-record': 20 };
const ofRuns = { 'after-page': 2, 'before-record': 8 };

const lagMs: ReadSettings['lagMs'] = [20_000, 100_000];
const reading = { lagMs, receiverFaults: 0.15, providerFaults: 0.12, tickMs: 12_000 };

export const reads: Record<Size, Omit<ReadSettings, 'seed'>> = {
  small: {
    ...few,
    ...reading,
    perPoint: 2,
    passes: { 'after-page': 3 },
    contacts: 1_000,
    ticks: 2,
    tickMs: 4_000,
  },
  usual: { ...some, ...reading, perPoint: 12, passes: ofRuns, contacts: 5_000, ticks: 6 },
  long: { ...many, ...reading, perPoint: 60, passes: ofRuns, contacts: 50_000, ticks: 30 },
};

const delivering = { receiverFaults: 0.3, passes: ofLanes };

export const deliveries: Record<Size, Omit<DeliverySettings, 'seed'>> = {
  small: {
    ...few,
    ...delivering,
    passes: { 'after-mark': 20, 'before-record': 20 },
    webhooks: 400,
    notifications: 400,
    endpoints: 20,
    files: 60,
    fileKills: 2,
  },
  usual: {
    ...some,
    ...delivering,
    webhooks: 5_000,
    notifications: 5_000,
    endpoints: 50,
    files: 500,
    fileKills: 10,
  },
  long: {
    ...many,
    ...delivering,
    webhooks: 50_000,
    notifications: 50_000,
    endpoints: 50,
    files: 5_000,
    fileKills: 50,
  },
};
