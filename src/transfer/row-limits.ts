import { JsonOutline } from '../kit/http/json-outline.ts';
import { issueAt, malformed } from './malformed.ts';

/** Of all values of a row together, in characters: the search for a text that cannot be kept writes each path once. A row of an export takes a quarter of it. */
const mostOfPaths = 20_000_000;

/** Refuses a text that holds too many values to parse it in one turn of the event loop. */
export function refuseExcess(text: Uint8Array, mostValues: number, name: string): void {
  const excess = new JsonOutline(mostValues).add(text);
  if (excess !== undefined) throw malformed([issueAt(name, `${excess}; no row of an export does`)]);
}

/** Refuses many values below long names: the name of each takes as long as all names that it is below. */
export function refuseLongPaths(row: unknown, name: string): void {
  const left: [value: unknown, length: number][] = [[row, 0]];
  let total = 0;
  for (let next = left.pop(); next; next = left.pop()) {
    const [value, length] = next;
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, child] of Object.entries(value)) {
      const ofChild = length + key.length + 1;
      total += ofChild;
      left.push([child, ofChild]);
    }
    if (total > mostOfPaths)
      throw malformed([issueAt(name, `has paths of more than ${mostOfPaths} characters in all`)]);
  }
}
