import type { Failure, ReadQuery } from '../../providers/index.ts';
import type { Associating } from './fetch-associations.ts';
import type { Caller } from './fetch-page.ts';
import { fetchLinked, type LinkedPage } from './linked-page.ts';

/** So many pages in all, since HubSpot takes five searches in a second. */
const mostPages = 3;

/**
 * The first page with a record that passes the filters, or the last one that was looked at: where a provider is not asked for all
 * filters, a page may hold none and be followed by others. A limit of the query holds for the first page; behind it whole ones are
 * looked at.
 */
export async function firstFound(
  caller: Caller,
  associating: Associating | undefined,
  { limit, ...query }: ReadQuery,
): Promise<LinkedPage | { failure: Failure }> {
  let asked: ReadQuery = limit === undefined ? { ...query } : { ...query, limit };
  let cursor = caller.read.begin(query, false);
  for (let pages = 1; ; pages += 1) {
    const fetched = await fetchLinked(caller, { associating }, asked, cursor);
    if ('failure' in fetched) return fetched;
    const { records, next } = fetched.page;
    if (records.length > 0 || next === undefined || pages === mostPages) return fetched;
    asked = { ...query };
    cursor = next;
  }
}
