import { isId } from './ids.ts';
import { refuse, type Problem } from './problem.ts';
import { usualSize, type OptionalPageQuery, type Page } from './paging-schema.ts';

/** Above every id. */
export const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The part of a list by falling id that a store is asked for. Both absent: all of it. */
export interface Slice {
  beforeId?: string | null;
  limit?: number | null;
}

/** A list by falling id: whole or, where the query asks for one, a page of it. */
export async function listOrPage<Row extends { id: string }, Shown>(
  { pageSize, pageToken }: OptionalPageQuery,
  read: (slice: Slice) => Promise<Row[]>,
  present: (rows: Row[]) => Shown[] | Promise<Shown[]>,
): Promise<Shown[] | Page<Shown>> {
  if (pageSize === undefined && pageToken === undefined) return present(await read({}));
  const size = pageSize ?? usualSize;
  const rows = await read({ beforeId: beforeIdOf(pageToken), limit: size + 1 });
  const { results, pagination } = pageOf(rows, size, ({ id }) => id);
  return { results: await present(results), pagination };
}

/** The same of a list that is short enough to be read whole, in the order in which its things were made. */
export function listOrPageOfAll<Item extends { id: string; createTime: string }>(
  { pageSize, pageToken }: OptionalPageQuery,
  items: Item[],
): Item[] | Page<Item> {
  if (pageSize === undefined && pageToken === undefined) return items;
  const size = pageSize ?? usualSize;
  const after = pageToken === undefined ? '' : readToken(pageToken);
  if (pageToken !== undefined && !/^\d{4}-\d\d-\d\dT[\d:.]+Z ./.test(after)) throw badToken();
  const placeOf = ({ createTime, id }: Item): string => `${createTime} ${id}`;
  const rest = items.filter((item) => placeOf(item) > after);
  return pageOf(
    rest.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1)),
    size,
    placeOf,
  );
}

/** The page of `rows`; one row more than `size` means that there is another page. */
export function pageOf<Row>(rows: readonly Row[], size: number, placeOf: (row: Row) => string): Page<Row> {
  const results = rows.slice(0, size);
  const last = results.at(-1);
  if (rows.length <= size || last === undefined) return { results, pagination: { done: true } };
  return { results, pagination: { done: false, nextPageToken: tokenOf(placeOf(last)) } };
}

export function tokenOf(place: string): string {
  return Buffer.from(place).toString('base64url');
}

/** The id below which a page of a list by falling id begins. */
export function beforeIdOf(pageToken: string | undefined): string {
  const id = pageToken === undefined ? lastId : readToken(pageToken);
  if (id === lastId || isId(id)) return id;
  throw badToken();
}

export function readToken(token: string): string {
  return Buffer.from(token, 'base64url').toString('utf8');
}

export function badToken(): Problem {
  return refuse([{ in: 'query', name: 'pageToken', detail: 'is not a token of this list' }]);
}
