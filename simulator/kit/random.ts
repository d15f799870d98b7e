/** A small seeded generator (mulberry32): the same seed gives the same run. */
export type Random = {
  /** Uniform in [0, 1). */
  next: () => number;
  /** Integer in [0, bound). */
  int: (bound: number) => number;
  pick: <T>(items: readonly T[]) => T;
  /** A new array in random order. */
  shuffle: <T>(items: readonly T[]) => T[];
  text: (length: number, alphabet?: string) => string;
  uuid: () => string;
};

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

/** Makes a generator; `stream` separates independent uses of one seed. */
export function createRandom(seed: number, stream = ''): Random {
  let state = hash(stream) ^ Math.imul(seed + 1, 0x9e3779b1);
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }
  const int = (bound: number): number => Math.floor(next() * bound);
  function text(length: number, alphabet = LETTERS): string {
    let out = '';
    for (let i = 0; i < length; i += 1) out += alphabet.charAt(int(alphabet.length));
    return out;
  }
  return {
    next,
    int,
    pick: (items) => pick(items, int),
    shuffle: (items) => shuffle(items, int),
    text,
    uuid: () => uuid(text),
  };
}

function hash(value: string): number {
  let out = 2166136261;
  for (let i = 0; i < value.length; i += 1) out = Math.imul(out ^ value.charCodeAt(i), 16777619);
  return out;
}

function pick<T>(items: readonly T[], int: (bound: number) => number): T {
  const item = items[int(items.length)];
  if (item === undefined) throw new RangeError('pick needs at least one item');
  return item;
}

function shuffle<T>(items: readonly T[], int: (bound: number) => number): T[] {
  const rest = [...items];
  const out: T[] = [];
  while (rest.length > 0) {
    const at = int(rest.length);
    const last = rest.pop();
    if (last === undefined) break;
    if (at === rest.length) out.push(last);
    else {
      const [chosen] = rest.splice(at, 1, last);
      if (chosen !== undefined) out.push(chosen);
    }
  }
  return out;
}

function uuid(text: (length: number, alphabet?: string) => string): string {
  const hex = (length: number): string => text(length, '0123456789abcdef');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
}
