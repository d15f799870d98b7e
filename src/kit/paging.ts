import type { Followed } from './db/document-page.ts';
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
  query: OptionalPageQuery,
  read: (slice: Slice) => Promise<Row[]>,
  present: (rows: Row[]) => Shown[] | Promise<Shown[]>,
): Promise<Shown[] | Page<Shown>> {
  if (!isPageAsked(query)) return present(await read({}));
  const { pageSize, pageToken } = query;
  const size = pageSize ?? usualSize;
  const rows = await read({ beforeId: beforeIdOf(pageToken), limit: size + 1 });
  const { results, pagination } = pageOf(rows, size, ({ id }) => id);
  return { results: await present(results), pagination };
}

/** A list, a page of it, or its parts, where it is asked for whole and holds more than a page may. */
export type Listed<Item> = Item[] | Page<Item> | AsyncIterable<Item[]>;

/** The same of things that hold documents. */
export function listOrPageOfDocuments<Row extends { id: string } & Followed, Shown>(
  query: OptionalPageQuery,
  read: (slice: Slice) => Promise<Row[]>,
  present: (rows: Row[]) => Shown[] | Promise<Shown[]>,
): Promise<Listed<Shown>> {
  if (isPageAsked(query)) return listOrPage(query, read, present);
  return wholeList((last) => read({ beforeId: last?.id ?? null }), present);
}

export function isPageAsked({ pageSize, pageToken }: OptionalPageQuery): boolean {
  return pageSize !== undefined || pageToken !== undefined;
}

/** `read` answers what follows a row, as much as fits a page. */
export async function wholeList<Row extends Followed, Shown>(
  read: (last: Row | undefined) => Promise<Row[]>,
  present: (rows: Row[]) => Shown[] | Promise<Shown[]>,
): Promise<Shown[] | AsyncIterable<Shown[]>> {
  const first = await read(undefined);
  return first.at(-1)?.followed ? partsFrom(first, read, present) : present(first);
}

async function* partsFrom<Row extends Followed, Shown>(
  first: Row[],
  read: (last: Row) => Promise<Row[]>,
  present: (rows: Row[]) => Shown[] | Promise<Shown[]>,
): AsyncGenerator<Shown[]> {
  let rows = first;
  for (;;) {
    yield await present(rows);
    const last = rows.at(-1);
    if (!last?.followed) return;
    rows = await read(last);
  }
}

/** The same of a list that is short enough to be read whole, in the order in which its things were made. */
export function listOrPageOfAll<Item extends { id: string; createTime: string }>(
  query: OptionalPageQuery,
  items: Item[],
): Item[] | Page<Item> {
  if (!isPageAsked(query)) return items;
  const { createTime, id } = placeAfter(query.pageToken);
  const after = madeAt({ createTime, id });
  const rest = items.filter((item) => madeAt(item) > after);
  return pageOf(
    rest.toSorted((a, b) => (madeAt(a) < madeAt(b) ? -1 : 1)),
    query.pageSize ?? usualSize,
    madeAt,
  );
}

interface Made {
  createTime: string;
  id: string;
}

/** The place in a list in the order in which its things were made. */
export function madeAt({ createTime, id }: Made): string {
  return `${createTime} ${id}`;
}

/** Behind which a page of such a list begins. */
export function placeAfter(pageToken: string | undefined): Made {
  if (pageToken === undefined) return { createTime: '', id: '' };
  const [, createTime, id] = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (.+)$/.exec(readToken(pageToken)) ?? [];
  if (createTime === undefined || id === undefined) throw badToken();
  return { createTime, id };
}

/** The page of `rows`; one row more than `size`, or a last one that is followed, means that there is another page. */
export function pageOf<Row extends object>(
  rows: readonly Row[],
  size: number,
  placeOf: (row: Row) => string,
): Page<Row> {
  const results = rows.slice(0, size);
  const last = results.at(-1);
  if (!last || (rows.length <= size && !('followed' in last && last.followed)))
    return { results, pagination: { done: true } };
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
