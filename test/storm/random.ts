/** Numbers that a seed decides (mulberry32). */
export interface Random {
  /** From 0 up to 1. */
  next(): number;
  /** A whole number from 0 up to `below`. */
  below(below: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number): number => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (items) => items[below(items.length)] as never,
  };
}
