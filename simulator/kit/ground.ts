import { createClock } from './clock.ts';
import type { Clock } from './clock.ts';
import { createFaults } from './faults.ts';
import type { Faults } from './faults.ts';
import { createGrantFile, type GrantFile } from './grant-file.ts';
import { createHooks } from './hooks.ts';
import type { Hooks } from './hooks.ts';
import { createLedger } from './ledger.ts';
import type { Ledger } from './ledger.ts';
import { createRandom } from './random.ts';
import type { Random } from './random.ts';

/** The base of every simulator; `random` is replaced when the simulator is reset. */
export type Ground = {
  clock: Clock;
  ledger: Ledger;
  faults: Faults;
  hooks: Hooks;
  random: Random;
  /** The file in which grants survive a restart, and the generator of their tokens, which must not repeat earlier ones. */
  kept?: { file: GrantFile; random: Random };
  /** Ids of records that are made after the seed count from here. Where grants survive a restart no id is given twice, as with a provider. */
  madeFrom: number;
  /** Added to every answer but those of the control API. */
  latencyMs: number;
  /** The simulator's own base URL, without a trailing slash; known once it listens. */
  url: string;
  reset: (seed: number) => void;
};

export type StartOptions = {
  port?: number;
  host?: string;
  seed?: number;
  /** How many contacts to seed. */
  records?: number;
  publicUrl?: string;
  ledger?: boolean;
  latencyMs?: number;
  /** Refuse OAuth clients that were not registered through /__sim/apps. */
  strictApps?: boolean;
  /** A file in which grants of OAuth survive a restart. */
  keep?: string;
};

export function createGround(options: StartOptions): Ground {
  const seed = options.seed ?? 1;
  const clock = createClock();
  const madeFrom = (): number => (options.keep === undefined ? 0 : Date.now());
  const ground: Ground = {
    clock,
    ledger: createLedger(clock.now, options.ledger ?? true),
    faults: createFaults(createRandom(seed, 'faults')),
    hooks: createHooks(),
    random: createRandom(seed),
    madeFrom: madeFrom(),
    latencyMs: options.latencyMs ?? 0,
    url: '',
    reset: (next) => {
      clock.reset();
      ground.ledger.clear();
      ground.hooks.clear();
      ground.faults = createFaults(createRandom(next, 'faults'));
      ground.random = createRandom(next);
      ground.madeFrom = madeFrom();
      ground.latencyMs = options.latencyMs ?? 0;
    },
  };
  if (options.keep !== undefined)
    ground.kept = { file: createGrantFile(options.keep), random: createRandom(Date.now(), 'tokens') };
  return ground;
}
