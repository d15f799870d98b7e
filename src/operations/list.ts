import type { Reach } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import { firstIdAt, isId } from '../kit/ids.ts';
import { badToken, lastId, readToken, tokenOf } from '../kit/paging.ts';
import type { OperationQuery } from './schema.ts';
import { markOf, pickOperations, walk, type OperationFilter, type Walk } from './store/lists.ts';
import type { OperationRow } from './store/read.ts';

/** Operations that one page looks at, at the most: where few of them are asked for, the page is short. */
const mostLookedAt = 2_000;
const fewest = 50;

const firstId = '00000000-0000-0000-0000-000000000000';
const lastSeq = '9223372036854775807';

/** Where a list goes on. */
interface Place {
  walk: Walk;
  after: string;
}

/** An operation of a list, and the place of its work where the list came by that. */
export interface Listed {
  row: OperationRow;
  seq?: string;
}

export interface OperationSlice {
  found: Listed[];
  /** Asks for what follows; without it there is no more. */
  nextPageToken?: string;
}

type Question = Omit<OperationQuery, 'pageSize' | 'pageToken'>;

/**
 * The operations that a question asks for, the newest first, across installations. It goes through one index, and looks at so many
 * of its entries at the most; a slice with fewer than `size` is not the end while it has a token.
 */
export async function listOperations(
  db: Queryable,
  reach: Reach,
  question: Question,
  size: number,
  pageToken?: string,
): Promise<OperationSlice> {
  const filter = filterOf(question);
  const begin = pageToken === undefined ? beginOf(reach, filter) : placeIn(reach, pageToken);
  if (filter.installationId !== undefined && !isId(filter.installationId)) return { found: [] };
  if (reach.groupRef !== undefined && (filter.groupRef ?? reach.groupRef) !== reach.groupRef)
    return { found: [] };
  const found: { row: OperationRow; place: Place }[] = [];
  let place: Place | undefined = begin;
  for (let looked = 0; place && looked < mostLookedAt;) {
    const limit: number = Math.min(Math.max(size + 1 - found.length, fewest), mostLookedAt - looked);
    const { walk: name, after }: Place = place;
    const seen = await walk(db, name, reach, filter, after, limit);
    looked += limit;
    const rows = await pickOperations(
      db,
      reach,
      filter,
      seen.flatMap(({ id }) => id ?? []),
    );
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const { id, place: at } of seen) {
      const row = byId.get(id ?? '');
      if (row) found.push({ row, place: { walk: name, after: at } });
    }
    if (found.length > size) return sliceOf(found.slice(0, size), found[size - 1]?.place);
    place = seen.length < limit ? following(name) : { walk: name, after: String(seen.at(-1)?.place) };
  }
  return sliceOf(found, place);
}

function sliceOf(
  seen: readonly { row: OperationRow; place: Place }[],
  next: Place | undefined,
): OperationSlice {
  const found = seen.map(({ row, place }) => (place.walk === 'queued' ? { row, seq: place.after } : { row }));
  return next ? { found, nextPageToken: tokenOf(`${next.walk} ${next.after}`) } : { found };
}

function filterOf({ from, to, ...asked }: Question): OperationFilter {
  return {
    ...asked,
    from: from === undefined ? firstId : firstIdAt(from),
    until: to === undefined ? lastId : firstIdAt(to),
  };
}

/**
 * By the index that leaves least to be looked at in vain. Who sees one group goes by the operations of that group alone: a page
 * token says where a walk came by.
 */
function beginOf(reach: Reach, filter: OperationFilter): Place {
  const { status, installationId, groupRef } = filter;
  const begun = (name: Walk): Place => ({ walk: name, after: lastId });
  if (status === 'in_progress') return begun('gathering');
  if (reach.groupRef !== undefined) return begun('group');
  if (markOf(filter) !== undefined) return begun('marked');
  if (installationId !== undefined) return begun('installation');
  return begun(groupRef === undefined ? 'project' : 'group');
}

function following(name: Walk): Place | undefined {
  return name === 'gathering' ? { walk: 'queued', after: lastSeq } : undefined;
}

function placeIn({ groupRef }: Reach, token: string): Place {
  const [, name = '', after = ''] = /^(\w+) (\S+)$/.exec(readToken(token)) ?? [];
  const names = groupRef === undefined ? walksOfAll : walksOfGroup;
  const isPlace = name === 'queued' ? /^\d{1,19}$/.test(after) : names.has(name) && isId(after);
  if (!isPlace) throw badToken();
  return { walk: name as Walk, after };
}

const walksOfGroup: ReadonlySet<string> = new Set<Walk>(['group', 'gathering']);
const walksOfAll: ReadonlySet<string> = new Set<Walk>([
  'project',
  'installation',
  'group',
  'marked',
  'gathering',
]);
