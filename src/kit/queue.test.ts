import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createQueue } from './queue.ts';

describe('kit/queue', () => {
  it('lets those that wait take turns by their owners', async () => {
    const inTurn = createQueue({ atOnce: 1, waiting: 100 });
    const ran: string[] = [];
    const work = (name: string) =>
      inTurn(async () => {
        ran.push(name);
        await setTimeout(1);
      }, name[0]);
    await Promise.all(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map(work));
    expect(ran).toEqual(['a1', 'b1', 'a2', 'c1', 'b2', 'a3', 'a4']);
  });

  it('refuses what is more than may wait, of all and of one owner', async () => {
    const inTurn = createQueue({ atOnce: 2, waiting: 3, waitingOfOne: 2, retryAfterSeconds: 5 });
    const of = (owners: string) =>
      Promise.allSettled(owners.split('').map((owner, index) => inTurn(() => setTimeout(1, index), owner)));
    const refused = expect.objectContaining({
      reason: expect.objectContaining({ code: 'overloaded', details: { retryAfterSeconds: 5 } }),
    });
    const done = (value: number) => ({ status: 'fulfilled', value });
    expect(await of('aaaaab')).toEqual([done(0), done(1), done(2), done(3), refused, done(5)]);
    expect(await of('aaaabc')).toEqual([done(0), done(1), done(2), done(3), done(4), refused]);
  });

  it('goes on after what failed', async () => {
    const inTurn = createQueue({ atOnce: 1, waiting: 1 });
    const failing = inTurn(() => Promise.reject(new Error('no')));
    const after = inTurn(async () => 'done');
    await expect(failing).rejects.toThrow('no');
    expect(await after).toBe('done');
    expect(await inTurn(async () => 'again')).toBe('again');
  });
});
