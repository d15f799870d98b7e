import type { Failure } from '../../../providers/index.ts';
import { callsFor } from './bisect.ts';

/** What was read of the fields, part by part, and the names that the provider refuses to read. */
export interface ReadOfFields<Found> {
  found: Found[];
  refused: Map<string, Failure>;
}

/**
 * Reads fields at once. Where the provider refuses the read for one of their names, reads the halves, and theirs, until the culprits stand
 * alone. After so many reads as a batch of so many records would take, what is left counts as refused.
 */
export async function readByFields<Found extends object>(
  fields: string[],
  read: (part: string[]) => Promise<Found | { failure: Failure }>,
): Promise<ReadOfFields<Found> | { failure: Failure }> {
  const found: Found[] = [];
  const refused = new Map<string, Failure>();
  let readsLeft = 1 + callsFor(fields.length);
  let last: Failure | undefined;
  const parts = [fields];
  for (const part of parts) {
    const result = readsLeft === 0 && last ? { failure: last } : await read(part);
    readsLeft = Math.max(0, readsLeft - 1);
    if (!('failure' in result)) {
      found.push(result);
      continue;
    }
    const { failure } = result;
    last = failure;
    if (part.length === 0 || failure.retryable || failure.category !== 'validation') return { failure };
    const middle = Math.ceil(part.length / 2);
    // The loop comes to what is added: the largest parts first.
    if (part.length > 1 && readsLeft > 0) parts.push(part.slice(0, middle), part.slice(middle));
    else for (const name of part) refused.set(name, failure);
  }
  return { found, refused };
}

/** Why one of the fields could not be read. */
export function refusalOf(
  names: readonly string[] = [],
  { refused }: Pick<ReadOfFields<unknown>, 'refused'>,
): Failure | undefined {
  return names.map((name) => refused.get(name)).find((failure) => failure !== undefined);
}
