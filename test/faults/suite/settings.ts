/** The settings of one run. */
export interface Settings {
  /** Requests that must be accepted. */
  writes: number;
  /** Deaths of nodes, at named points and at random. */
  kills: number;
  /** How often each named point is hit at the least. */
  perPoint: number;
  /** Nodes frozen for longer than their lease. */
  stops: number;
  /** How often every connection to the database is cut. */
  terminations: number;
  /** Crashes of the database; only where the server is ours. */
  databaseCrashes: number;
  /** How often, and for how long, no answer of the database reaches a node that lives. */
  silences: number;
  silenceMs: number;
  /** How often a node's database refuses statements for a while. */
  refusals: number;
  /** How often the database stores something, and its answer is lost with the way to it, for longer than a node looks. */
  losses: number;
  /** How often a provider answers nothing, for twice the time that a node waits. */
  outages: number;
  /** How often somebody reads all tables in one transaction, as a backup does. */
  readers: number;
  /** How often the clock of the database goes ahead by more than a lease. */
  jumps: number;
  /** How far the second node's clock is ahead. */
  skewMs: number;
  /** Nodes, from the first, that live as long as the run. */
  spared: number;
  /** The pause between two deaths of a node, and between other disturbances, is one to six times this. */
  paceMs: number;
  /** The load goes on for at least this long. */
  minutes?: number;
  callers: number;
  /** Between the requests of one caller. */
  pauseMs: number;
  /** How long every provider answer takes. */
  latencyMs: number;
  /** How long a node waits for an answer at the most; a frozen one finds its calls timed out when it wakes up. */
  providerCallMs: number;
  /** The shortest time that a node is frozen for; the longest is a lease more. */
  freezeMs: number;
  /** The share of provider calls that go wrong. */
  faultRate: number;
  /** How each request is chosen. */
  traffic: 'mixed' | 'plain creates' | 'keyed creates' | 'upserts';
  seed: number;
}

/** What is done to nodes, their database and what they call. */
export type Disruption = Pick<
  Settings,
  | 'kills'
  | 'perPoint'
  | 'stops'
  | 'terminations'
  | 'databaseCrashes'
  | 'silences'
  | 'silenceMs'
  | 'refusals'
  | 'losses'
  | 'outages'
  | 'readers'
  | 'jumps'
  | 'spared'
  | 'paceMs'
  | 'providerCallMs'
  | 'freezeMs'
  | 'seed'
>;

export const leaseMs = 2_000;
/** How long after its answer was lost svc expects a create (`SVC_LATE_EFFECT_MS`): longer than it waits before it looks for the first time. */
export const lateEffectMs = 8_000;
/** Each has two installations, and so two lanes. A user of Salesforce approves an app five times at the most. */
export const groups = 4;

const common = {
  callers: 24,
  pauseMs: 0,
  latencyMs: 0,
  providerCallMs: 2_000,
  freezeMs: 1.3 * leaseMs,
  faultRate: 0.1,
  skewMs: 90_000,
  spared: 0,
  paceMs: 1_500,
  silenceMs: 12_000,
  traffic: 'mixed',
} as const;

/** The size that `npm test` runs. */
export const usual: Omit<Settings, 'seed'> = {
  ...common,
  writes: 10_000,
  kills: 30,
  perPoint: 2,
  stops: 4,
  terminations: 3,
  databaseCrashes: 1,
  silences: 1,
  refusals: 3,
  losses: 6,
  outages: 1,
  readers: 1,
  jumps: 6,
};

/** The size of `--long`, for a release. */
export const long: Omit<Settings, 'seed'> = {
  ...common,
  writes: 100_000,
  kills: 300,
  perPoint: 20,
  stops: 50,
  terminations: 20,
  databaseCrashes: 20,
  silences: 5,
  silenceMs: 60_000,
  refusals: 30,
  losses: 20,
  outages: 10,
  readers: 10,
  jumps: 60,
};

const calm = {
  kills: 0,
  perPoint: 0,
  stops: 0,
  terminations: 0,
  databaseCrashes: 0,
  silences: 0,
  refusals: 0,
  losses: 0,
  outages: 0,
  readers: 0,
  jumps: 0,
};

const frozen = {
  ...common,
  ...calm,
  writes: 600,
  stops: 8,
  providerCallMs: 20_000,
  freezeMs: 2.2 * leaseMs,
  callers: 16,
  pauseMs: 150,
  latencyMs: 1_000,
  faultRate: 0.4,
  traffic: 'keyed creates',
} as const;

/**
 * Small runs of sources that are known to be wrong, each where its fault shows: without the mark a killed node's creates are
 * sent again; without the fence a frozen node's late record frees an item that another node is sending; where a synchronous upsert is
 * said to be unsent that another node may send, it comes after its refusal. `intact`: the unchanged sources must show no violation
 * under the same conditions.
 */
export const controls = {
  marker: {
    ...common,
    ...calm,
    writes: 800,
    kills: 8,
    pauseMs: 20,
    latencyMs: 50,
    traffic: 'plain creates',
  },
  fence: frozen,
  refusal: { ...common, ...calm, writes: 600, losses: 12, pauseMs: 100, latencyMs: 50, traffic: 'upserts' },
  intact: frozen,
} satisfies Record<string, Omit<Settings, 'seed'>>;

export type Control = keyof typeof controls;
