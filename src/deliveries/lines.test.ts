import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLines, type Line } from './lines.ts';

describe('deliveries/lines', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  /** So many that come at once; what was let in so far. */
  function many(count: number, signal = new AbortController().signal, lines = createLines()) {
    const inside: Line[] = [];
    for (let n = 0; n < count; n += 1) void lines.enter('d', signal).then((line) => inside.push(line));
    const settled = () => vi.advanceTimersByTimeAsync(0);
    const leave = async (tookMs: number) => {
      inside.shift()?.leave(tookMs);
      await settled();
    };
    return { inside, settled, leave, lines };
  }

  it('a quick destination is sent to over four lines, one after the other', async () => {
    const { inside, settled, leave } = many(20);
    await settled();
    for (let left = 20; left > 4; left -= 1) {
      expect(inside).toHaveLength(4);
      await leave(2);
    }
    for (let left = 4; left > 0; left -= 1) await leave(2);
    expect(inside).toHaveLength(0);
  });

  it('a slow one over as many as make 200 a second, at most 20', async () => {
    const first = many(30);
    await first.settled();
    await first.leave(60);
    expect(first.inside).toHaveLength(12);
    await first.leave(60);
    expect(first.inside).toHaveLength(12);
    for (let n = 0; n < 20; n += 1) await first.leave(5_000);
    const second = many(40, undefined, first.lines);
    await second.settled();
    expect(first.inside.length + second.inside.length).toBe(20);
  });

  it('over no more than its part while many are sent to', async () => {
    const { lines, settled, inside } = many(4);
    await settled();
    inside.shift()?.leave(1_000);
    for (let n = 0; n < 99; n += 1) await lines.enter(`other ${n}`, new AbortController().signal);
    const { inside: more, settled: then } = many(20, undefined, lines);
    await then();
    expect(inside.length + more.length).toBe(6);
  });

  it('none waits for longer than a second, nor once it is aborted', async () => {
    const cut = new AbortController();
    const { inside, settled } = many(6, cut.signal);
    await vi.advanceTimersByTimeAsync(999);
    expect(inside).toHaveLength(4);
    await vi.advanceTimersByTimeAsync(1);
    expect(inside).toHaveLength(6);
    const more = many(6, cut.signal);
    await settled();
    cut.abort();
    await settled();
    expect(more.inside).toHaveLength(6);
  });

  it('each destination has its own', async () => {
    const { lines, settled } = many(4);
    await settled();
    const other = lines.enter('e', new AbortController().signal);
    await expect(other).resolves.toBeDefined();
  });
});
