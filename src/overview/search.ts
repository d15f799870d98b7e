import { findProxyCalls } from '../actions/proxy/index.ts';
import { findConnections } from '../connections/index.ts';
import { findDeliveries } from '../deliveries/index.ts';
import { findEvents, type Found, type Reach, type Sought } from '../events/index.ts';
import { findInstallations } from '../installations/index.ts';
import type { Database } from '../kit/db/database.ts';
import { findOperations } from '../operations/index.ts';
import { findMembers } from '../people/index.ts';
import { findInProject } from '../projects/index.ts';
import { foundTypes, type SearchHits } from './schema.ts';

/** Less is the beginning of too many ids. */
const fewestDigits = 8;
const mostHits = 20;
/** Of a text that was pasted. */
const mostIds = 4;
const wholeId = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/gi;

/** What is looked for: what was typed, as it is, and each whole id in it, such as those of an address or of a line of a log. */
export function textsIn(q: string): string[] {
  const typed = q.trim();
  const ids = (typed.match(wholeId) ?? []).map((id) => id.toLowerCase());
  return [...new Set([...ids.slice(0, mostIds), ...(ids[0] === typed.toLowerCase() ? [] : [typed])])];
}

/** The ids that begin as the text does, which may leave out hyphens. */
export function rangeOf(text: string): Sought['range'] {
  const digits = text.toLowerCase().replaceAll('-', '');
  if (!/^[\da-f]+$/.test(digits) || digits.length < fewestDigits || digits.length > 32) return null;
  return { from: idOf(digits.padEnd(32, '0')), to: idOf(digits.padEnd(32, 'f')) };
}

function idOf(digits: string): string {
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ].join('-');
}

/** What an id, a reference or a name leads to, over all rooms; each looks by its indexes. */
export async function search(
  database: Database,
  reach: Reach,
  { q, isFull }: { q: string; isFull: boolean },
): Promise<SearchHits> {
  const finders = [
    findOperations,
    findDeliveries,
    findConnections,
    findInstallations,
    findInProject,
    findMembers,
    findProxyCalls,
    findEvents,
  ];
  const lists = textsIn(q).map(async (text) => {
    const sought: Sought = { range: rangeOf(text), text, isFull };
    const found = await Promise.all(finders.map((find) => find(database, reach, sought)));
    return ranked(found.flat(), text);
  });
  return {
    hits: once((await Promise.all(lists)).flat())
      .slice(0, mostHits)
      .map(present),
  };
}

/** What is called exactly so comes first, then by type. */
function ranked(found: readonly Found[], text: string): Found[] {
  const wanted = text.toLowerCase();
  const isExact = ({ id, name }: Found): boolean => [id.toLowerCase(), name?.toLowerCase()].includes(wanted);
  const rank = (one: Found): number =>
    (isExact(one) ? 0 : foundTypes.length) + (foundTypes as readonly string[]).indexOf(one.type);
  return found.toSorted((one, other) => rank(one) - rank(other));
}

function once(found: readonly Found[]): Found[] {
  const keys = found.map(({ type, id, groupRef }) => JSON.stringify([type, id, groupRef]));
  return found.filter((_, at) => keys.indexOf(keys[at] ?? '') === at);
}

function present(found: Found): SearchHits['hits'][number] {
  const told = Object.entries(found).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(told) as SearchHits['hits'][number];
}
