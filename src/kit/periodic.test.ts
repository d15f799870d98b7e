import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLog } from './log.ts';
import { createPeriodic, together, type Rounds } from './periodic.ts';

function open(round: Rounds['round'], over: Partial<Rounds> = {}) {
  const lines: string[] = [];
  const log = createLog('warn', { destination: { write: (line) => lines.push(line) } });
  return { lines, periodic: createPeriodic({ log, what: 'keeping it', everyMs: 10, round, ...over }) };
}

describe('src/kit/periodic', () => {
  it('does a round at the start, then from time to time, and at once where there is more', async () => {
    let rounds = 0;
    const { periodic } = open(async () => ++rounds < 5, { everyMs: 60_000 });
    periodic.start();
    await expect.poll(() => rounds).toBe(5);
    await periodic.stop();
    expect(rounds).toBe(5);
  });

  it('is stopped once the round under way is over', async () => {
    const gate = Promise.withResolvers<void>();
    let isOver = false;
    const { periodic } = open(async () => {
      await gate.promise;
      isOver = true;
    });
    periodic.start();
    const stopped = periodic.stop();
    await wait(20);
    gate.resolve();
    await stopped;
    expect(isOver).toBe(true);
  });

  it('goes on after a failure, and tells the first of those that follow one another', async () => {
    const fails = [true, true, false, true, false];
    let rounds = 0;
    const { periodic, lines } = open(
      async () => {
        rounds += 1;
        if (fails[rounds - 1]) throw new Error(`round ${rounds}`);
      },
      { againMs: 1 },
    );
    periodic.start();
    await expect.poll(() => rounds).toBeGreaterThanOrEqual(5);
    await periodic.stop();
    const told = lines.map((line) => JSON.parse(line) as { msg: string; err: { message: string } });
    expect(told.map(({ msg, err }) => `${err.message}: ${msg}`)).toEqual([
      'round 1: keeping it failed; it is tried again',
      'round 4: keeping it failed; it is tried again',
    ]);
  });

  it('several are started and stopped as one', async () => {
    const done: string[] = [];
    const both = together(['a', 'b'].map((name) => open(async () => void done.push(name)).periodic));
    both.start();
    await both.stop();
    expect(done.toSorted()).toEqual(['a', 'b']);
  });
});
