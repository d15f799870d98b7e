import { isExactNumber } from '../json.ts';

type Parent = Record<string, unknown>;

/** Where a value holds a number that is kept as its text, and what stands there instead. */
export interface StandIn {
  parent: Parent;
  key: string;
  number: { rawJSON: string };
  symbol: symbol;
}

const exactBodies = new WeakSet();

/** Of a body in which the parser kept a number as its text: `holdsExact` says so from then on. */
export function noteExact(body: object): void {
  exactBodies.add(body);
}

/** Without a look into the body: most hold no such number. */
export function holdsExact(body: unknown): boolean {
  return typeof body === 'object' && body !== null && exactBodies.has(body);
}

/**
 * Puts symbols in the place of the numbers that are kept as their texts. A validator takes the objects that they are for
 * objects of the caller's; a symbol is of no type that a schema can ask for.
 */
export function standInForNumbers(root: object): StandIn[] {
  const standIns: StandIn[] = [];
  const left = [root as Parent];
  for (let parent = left.pop(); parent; parent = left.pop()) {
    for (const [key, value] of Object.entries(parent)) {
      if (typeof value !== 'object' || value === null) continue;
      if (isExactNumber(value)) {
        const symbol = Symbol(value.rawJSON);
        parent[key] = symbol;
        standIns.push({ parent, key, number: value, symbol });
      } else left.push(value as Parent);
    }
  }
  return standIns;
}

export function putBack(standIns: readonly StandIn[]): void {
  for (const { parent, key, number } of standIns) parent[key] = number;
}
