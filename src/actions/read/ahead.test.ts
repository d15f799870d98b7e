import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ahead } from './ahead.ts';

/** Gives what is put in by hand, and notes how often it was asked. */
function byHand() {
  const puts: PromiseWithResolvers<number[] | undefined>[] = [];
  const state = { asked: 0, isOver: false };
  const put = (at: number) => (puts[at] ??= Promise.withResolvers());
  async function* source(): AsyncGenerator<number[]> {
    try {
      for (let at = 0; ; at += 1) {
        state.asked += 1;
        const item = await put(at).promise;
        if (!item) return;
        yield item;
      }
    } finally {
      state.isOver = true;
    }
  }
  return { source: source(), state, put };
}

/** Up to three. */
const join = (one: number[], next: number[]): number[] | undefined =>
  one.length + next.length > 3 ? undefined : [...one, ...next];

async function turns(): Promise<void> {
  for (let n = 0; n < 5; n += 1) await turn();
}

describe('src/actions/read/ahead', () => {
  it('gives what came while its taker was busy as one, in order, and goes no further than may be joined', async () => {
    const { source, state, put } = byHand();
    const items = ahead(source, join);
    const first = items.next();
    for (const at of [0, 1, 2, 3, 4, 5]) put(at).resolve([at]);
    expect(await first).toEqual({ done: false, value: [0] });
    await turns();
    // Three wait, and the fourth is in hand.
    expect(state.asked).toBe(5);
    expect((await items.next()).value).toEqual([1, 2, 3]);
    await turns();
    expect((await items.next()).value).toEqual([4, 5]);
    put(6).resolve(undefined);
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });

  it('gives one by one what its taker waits for', async () => {
    const { source, put } = byHand();
    const items = ahead(source, join);
    for (const at of [0, 1, 2]) {
      const next = items.next();
      await turns();
      put(at).resolve([at]);
      expect((await next).value).toEqual([at]);
    }
  });

  it('gives what came before the source threw, and throws then', async () => {
    const { source, put } = byHand();
    const items = ahead(source, join);
    const first = items.next();
    put(0).resolve([0]);
    expect((await first).value).toEqual([0]);
    put(1).resolve([1]);
    put(2).reject(new Error('the source broke'));
    await turns();
    expect((await items.next()).value).toEqual([1]);
    await expect(items.next()).rejects.toThrow('the source broke');
  });

  it('asks no further once its taker has left', async () => {
    const { source, state, put } = byHand();
    put(0).resolve([0]);
    for await (const item of ahead(source, () => undefined)) {
      expect(item).toEqual([0]);
      put(1).resolve([1]);
      put(2).resolve([2]);
      await turns();
      break;
    }
    await turns();
    expect(state).toEqual({ asked: 3, isOver: true });

    const other = byHand();
    const left = ahead(other.source, join);
    other.put(0).resolve([0]);
    await left.next();
    await left.return();
    other.put(1).resolve([1]);
    await turns();
    expect(other.state).toEqual({ asked: 2, isOver: true });
  });
});
