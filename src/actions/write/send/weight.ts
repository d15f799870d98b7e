import type { PlannedRecord } from '../prepare/stored.ts';

/**
 * Characters that the records of one call have together, about: a provider answers with what it was sent, and an answer of 16 MiB
 * is not read.
 */
export const mostWeight = 2 * 1024 * 1024;

/** About how many characters a record takes in a call. */
export function weightOf({ fields }: Pick<PlannedRecord, 'fields'>): number {
  return weigh(fields);
}

export function weigh(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  let sum = 0;
  for (const name in value) sum += name.length + weigh((value as Record<string, unknown>)[name]);
  return sum;
}

/** In their order, so many together at most, and of {@link mostWeight}; one that weighs more is alone. */
export function inParts<Item>(
  items: readonly Item[],
  size: number,
  weightOfItem: (item: Item) => number,
): Item[][] {
  const parts: { items: Item[]; weight: number }[] = [];
  for (const item of items) {
    const weight = weightOfItem(item);
    const last = parts.at(-1);
    if (last && last.items.length < size && last.weight + weight <= mostWeight) {
      last.items.push(item);
      last.weight += weight;
    } else {
      parts.push({ items: [item], weight });
    }
  }
  return parts.map((part) => part.items);
}
