import { describe, expect, it } from 'vitest';
import { growthOf, type Sample } from './growth.ts';

const mebi = 2 ** 20;

function run(change: (at: number) => Partial<Sample>): Sample[] {
  return Array.from({ length: 40 }, (_, at) => ({
    seconds: at * 15,
    accepted: (at + 1) * 1_000,
    memory: 200 * mebi,
    queue: 5 * mebi,
    history: (at + 1) * 1_000 * 2_048,
    queueAge: 2,
    ...change(at),
  }));
}

describe('growth of a soak', () => {
  it('finds none where figures only swing, and history grows with what was accepted', () => {
    expect(growthOf(run((at) => ({ memory: (200 + (at % 7) * 10) * mebi, queueAge: at % 5 })))).toEqual([]);
  });

  it('forgives the growth of a start', () => {
    expect(growthOf(run((at) => ({ memory: Math.min(400, 100 + at * 40) * mebi })))).toEqual([]);
  });

  it.each<[string, (at: number) => Partial<Sample>, RegExp]>([
    ['memory', (at) => ({ memory: (150 + at * 5) * mebi }), /^memory grew from \d+ to \d+ bytes$/],
    ['queue tables', (at) => ({ queue: (1 + at) * 2 * mebi }), /^queue tables grew/],
    ['history', (at) => ({ history: (at + 1) ** 2 * 100 * 2_048 }), /^history of a request grew/],
    ['age of the queue', (at) => ({ queueAge: at * 4 }), /^age of the queue grew from \d+ to \d+ s$/],
  ])('finds the growth of %s', (_, change, sentence) => {
    expect(growthOf(run(change))).toEqual([expect.stringMatching(sentence)]);
  });

  it('does not judge memory by less than nine minutes', () => {
    const grows = run((at) => ({ memory: (150 + at * 5) * mebi }));
    expect(growthOf(grows.slice(0, 36))).toEqual([]);
    expect(growthOf(grows.slice(0, 37))).toHaveLength(1);
  });

  it('says that a short run shows nothing', () => {
    expect(growthOf(run(() => ({})).slice(0, 7))).toEqual(['7 samples are too few to tell; run for longer']);
  });
});
