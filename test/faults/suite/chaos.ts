import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom, type Random } from '../../../simulator/kit/random.ts';
import type { CrashPoint } from '../../../src/kit/crash-point.ts';
import type { NodeProcess } from './node-process.ts';
import type { Forwarder } from '../../forwarder.ts';
import { leaseMs, type Disruption } from './settings.ts';

/** Crash points, each with the most passes after which a life ends there. */
export type Passes = Partial<Record<CrashPoint, number>>;

/** The points of a write. */
const passesOfWrites: Passes = {
  'after-slots': 25,
  'after-accept': 60,
  'after-claim': 6,
  'after-seal': 2,
  'after-mark': 40,
  'after-send': 40,
  'before-record': 40,
  'after-record': 40,
};

/** What was done to the nodes and the database so far. */
export interface Deeds {
  kills: number;
  /** Deaths at each named point. */
  crashPoints: Partial<Record<CrashPoint, number>>;
  stops: number;
  terminations: number;
  databaseCrashes: number;
  /** Times in which no answer of the database reached the nodes. */
  silences: number;
  /** Times in which the database refused statements. */
  refusals: number;
  /** Times in which the database was lost right after it stored something. */
  losses: number;
  /** Times in which a provider did not answer at all. */
  outages: number;
  /** Transactions that kept all tables open for long. */
  readers: number;
  /** Times in which the clock of the database went ahead. */
  jumps: number;
}

/** Times, in milliseconds, of disturbances that can make an outcome unknown. */
export interface Disturbance {
  from: number;
  until: number;
}

export interface ChaosDeps {
  settings: Disruption;
  /** By default those of a write. */
  passes?: Passes;
  nodes: readonly NodeProcess[];
  /** Cuts every connection to the database. */
  terminate: () => Promise<unknown>;
  /** Kills the database server, which comes back by itself; absent where it is not ours. */
  crashDatabase?: () => Promise<unknown>;
  /** The nodes' wires to the database, in their order. */
  wires: readonly Forwarder[];
  /** Holds all tables as a backup does, for some seconds; says whether it could. */
  read: () => Promise<boolean>;
  /** The clock of the database goes ahead by so much. */
  jump: (byMs: number) => Promise<unknown>;
  /** For this long a provider answers nothing. */
  outage: (forMs: number) => Promise<void>;
  /** Nothing is done to a node from then on; those that are down come back. */
  over: () => boolean;
}

export interface Chaos {
  readonly deeds: Deeds;
  readonly disturbances: readonly Disturbance[];
  /** Whether everything was done as often as wanted. */
  enough(): boolean;
  /** Resolves when it is over, with all nodes running. */
  run(): Promise<void>;
}

export function createChaos(deps: ChaosDeps): Chaos {
  const { settings, nodes, passes = passesOfWrites } = deps;
  const points = settings.perPoint > 0 ? (Object.keys(passes) as CrashPoint[]) : [];
  const deeds: Deeds = {
    kills: 0,
    crashPoints: Object.fromEntries(points.map((point) => [point, 0])),
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
  const disturbances: Disturbance[] = [];
  const state: State = { ...deps, passes, deeds, points, trying: new Set(), disturbances };
  return {
    deeds,
    disturbances,
    enough: () => hasEnough(state),
    run: async () => {
      await Promise.all([
        ...nodes.slice(settings.spared).map((node, at) => live(state, node, at)),
        disturbDatabase(state),
        disturbWires(state),
        disturbProviders(state),
        readForLong(state),
        jumpClock(state),
      ]);
    },
  };
}

interface State extends ChaosDeps {
  passes: Passes;
  deeds: Deeds;
  points: CrashPoint[];
  /** Points at which a node that lives now will die. */
  trying: Set<CrashPoint>;
  disturbances: Disturbance[];
}

function hasEnough({ settings, deeds, points, crashDatabase }: State): boolean {
  return (
    deeds.kills >= settings.kills &&
    deeds.stops >= settings.stops &&
    deeds.terminations >= settings.terminations &&
    (deeds.databaseCrashes >= settings.databaseCrashes || !crashDatabase) &&
    deeds.silences >= settings.silences &&
    deeds.refusals >= settings.refusals &&
    deeds.losses >= settings.losses &&
    deeds.outages >= settings.outages &&
    deeds.readers >= settings.readers &&
    deeds.jumps >= settings.jumps &&
    points.every((point) => (deeds.crashPoints[point] ?? 0) >= settings.perPoint)
  );
}

/** A node's lives, one after the other: each ends at a named point, or at random; some are frozen for a while. */
async function live(state: State, node: NodeProcess, at: number): Promise<void> {
  const { settings, passes, deeds, over } = state;
  const random = createRandom(settings.seed, `node ${at}`);
  let point: CrashPoint | undefined;
  const restart = (next: CrashPoint | undefined): void => {
    if (point !== undefined) state.trying.delete(point);
    point = next;
    if (point !== undefined) state.trying.add(point);
    node.start(point === undefined ? undefined : `${point}:${1 + random.int(passes[point] ?? 1)}`);
  };
  while (!over()) {
    // Counted from when it takes requests, so that on a slow machine a node does something before it dies.
    await Promise.race([node.ready(), node.gone]);
    const end = await life(state, node, random, point);
    if (end === 'lives on') continue;
    deeds.kills += 1;
    note(state, Date.now());
    if (end === 'at its point' && point !== undefined)
      deeds.crashPoints[point] = (deeds.crashPoints[point] ?? 0) + 1;
    restart(rarest(state));
  }
  if (point !== undefined) {
    // Without this the point would be reached in a later part.
    await kill(node);
    deeds.kills += 1;
    note(state, Date.now());
    restart(undefined);
  }
  await node.ready();
}

/** The point that was hit least and must still be hit, unless a node is on its way to it. */
function rarest({ points, deeds, settings, trying }: State): CrashPoint | undefined {
  const open = points.filter(
    (point) => !trying.has(point) && (deeds.crashPoints[point] ?? 0) < settings.perPoint,
  );
  return open.sort((a, b) => (deeds.crashPoints[a] ?? 0) - (deeds.crashPoints[b] ?? 0))[0];
}

async function life(
  state: State,
  node: NodeProcess,
  random: Random,
  point: CrashPoint | undefined,
): Promise<'at its point' | 'killed' | 'lives on'> {
  const { deeds, settings } = state;
  if (point === undefined) {
    if (deeds.stops < settings.stops) {
      deeds.stops += 1;
      const from = Date.now();
      await freeze(node, random, settings.freezeMs);
      note(state, from);
    }
    await sleep(settings.paceMs + random.int(2 * settings.paceMs));
    // It may have been killed elsewhere.
    const isGone = await Promise.race([node.gone.then(() => true), sleep(0, false)]);
    if (!isGone && deeds.kills >= settings.kills && rarest(state) === undefined) return 'lives on';
  } else {
    const limit = new AbortController();
    const tooLong = sleep(20_000, false, { signal: limit.signal }).catch(() => false);
    const crashed = await Promise.race([node.gone, tooLong]);
    limit.abort();
    if (crashed) return 'at its point';
  }
  await kill(node);
  return 'killed';
}

/** The exit of a process is seen a little after it. */
const slackMs = 500;

function note({ disturbances }: State, from: number): void {
  disturbances.push({ from: from - slackMs, until: Date.now() + slackMs });
}

/** Longer than its lease, so that others take its lanes over. */
async function freeze(node: NodeProcess, random: Random, forMs: number): Promise<void> {
  await sleep(300 + random.int(1_200));
  node.signal('SIGSTOP');
  await sleep(forMs + random.int(leaseMs));
  node.signal('SIGCONT');
}

async function kill(node: NodeProcess): Promise<void> {
  node.signal('SIGKILL');
  await node.gone.catch(() => undefined);
}

async function disturbDatabase(state: State): Promise<void> {
  const { settings, deeds, over, terminate, crashDatabase } = state;
  const random = createRandom(settings.seed, 'database');
  while (!over()) {
    await sleep(2 * settings.paceMs + random.int(2 * settings.paceMs));
    if (over()) return;
    const from = Date.now();
    if (crashDatabase && deeds.databaseCrashes < settings.databaseCrashes && deeds.terminations > 0) {
      await crashDatabase();
      deeds.databaseCrashes += 1;
    } else if (deeds.terminations < settings.terminations) {
      await terminate();
      deeds.terminations += 1;
    } else return;
    note(state, from);
  }
}

/**
 * SQLSTATEs that a database, or a pooler before it, answers to a statement that is good: a connection lost behind it, a plan that a
 * migration outdated, a read-only server, a prepared statement forgotten, a conflict, a deadlock, a right withdrawn, a full disk, no
 * memory, no connections, too complex, a lock, a cancelled statement, a session ended by an administrator, starting, input or output,
 * a fault inside it. Not of the classes 22 and 23, which say of the data that it is wrong and end it for good, nor of 28, which is
 * answered to connections alone.
 */
const refusals =
  '08006 0A000 25006 26000 40001 40P01 42501 53100 53200 53300 54001 55P03 57014 57P01 57P03 58030 XX000'.split(
    ' ',
  );

/** Statements that store what is accepted, what gathers, and what became of it; each with more time than a node looks for it. */
const storing = [
  { name: 'ledger_accept', lostForMs: 5_000 },
  { name: 'ab_insert', lostForMs: 12_000 },
  { name: 'work_record', lostForMs: 5_000 },
] as const;

/** A node's database does not answer for a while, refuses one statement in three, or is lost right after it stored something. */
async function disturbWires(state: State): Promise<void> {
  const { settings, deeds, over, wires, nodes } = state;
  const random = createRandom(settings.seed, 'wires');
  const left = (): ('silences' | 'refusals' | 'losses')[] =>
    (['silences', 'refusals', 'losses'] as const).filter((name) => deeds[name] < settings[name]);
  while (!over() && left().length > 0) {
    await sleep(settings.paceMs + random.int(settings.paceMs));
    const at = random.int(wires.length);
    const wire = wires[at];
    if (!wire) throw new Error('there is no wire');
    const how = random.pick(left());
    const from = Date.now();
    if (how === 'silences') {
      wire.cut('hang');
      await sleep(settings.silenceMs);
    } else if (how === 'refusals') {
      wire.refuse(refusals, 0.3, random.next);
      await sleep(1_500 + random.int(1_500));
    } else {
      const { name, lostForMs } = storing[deeds.losses % storing.length] ?? storing[0];
      wire.loseWay(name);
      await sleep(lostForMs);
      // Every other node cannot take back any more what it answered for.
      if (at >= settings.spared && random.next() < 0.5) nodes[at]?.signal('SIGKILL');
    }
    deeds[how] += 1;
    wire.heal();
    note(state, from);
  }
}

async function disturbProviders({ settings, deeds, over, outage }: State): Promise<void> {
  const random = createRandom(settings.seed, 'providers');
  while (!over() && deeds.outages < settings.outages) {
    await sleep(3 * settings.paceMs + random.int(3 * settings.paceMs));
    await outage(2 * settings.providerCallMs);
    deeds.outages += 1;
  }
}

/** Not counted as a disturbance: it must have no effect on outcomes. */
async function readForLong({ settings, deeds, over, read }: State): Promise<void> {
  const random = createRandom(settings.seed, 'readers');
  while (!over() && deeds.readers < settings.readers) {
    await sleep(3 * settings.paceMs + random.int(3 * settings.paceMs));
    if (await read()) deeds.readers += 1;
  }
}

/** By more than a lease, while its holders live. */
async function jumpClock(state: State): Promise<void> {
  const { settings, deeds, over, jump } = state;
  const random = createRandom(settings.seed, 'clock');
  while (!over() && deeds.jumps < settings.jumps) {
    await sleep(3 * settings.paceMs + random.int(3 * settings.paceMs));
    const from = Date.now();
    await jump(1.5 * leaseMs);
    deeds.jumps += 1;
    // What was begun before is taken over by whoever claims its lane.
    await sleep(leaseMs);
    note(state, from);
  }
}
