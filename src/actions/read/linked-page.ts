import type { Queryable } from '../../kit/db/database.ts';
import type { Failure, ReadQuery } from '../../providers/index.ts';
import { shapeAssociations } from './associations.ts';
import {
  compared,
  fetchAssociations,
  fetchRecords,
  linksOf,
  type AssociatedPage,
  type Associating,
} from './fetch-associations.ts';
import { fetchPage, type Caller, type Fetched } from './fetch-page.ts';
import { knownLinks, type Link } from './store/links.ts';

/** A page with what its records are associated with. `listed`: the records that were looked at; those of the page are delivered. */
export type LinkedPage = Extract<Fetched, { page: unknown }> & {
  listed: number;
  associated?: AssociatedPage;
};

interface Choice {
  associating: Associating | undefined;
  /** Where records are delivered only if their associations are others than before. */
  onlyChanged?: Comparison | undefined;
}

interface Comparison {
  database: Queryable;
  run: { installationId: string; objectName: string; until: number };
  projectId: string;
  /** Of a record that is delivered. */
  fields: readonly string[];
}

/** Reads the page at a cursor, and what its records are associated with. The query keeps a limit that had to be smaller. */
export async function fetchLinked(
  caller: Caller,
  { associating, onlyChanged: comparison }: Choice,
  query: ReadQuery,
  cursor: string,
): Promise<LinkedPage | { failure: Failure; begin?: true }> {
  for (;;) {
    const fetched = await fetchPage(caller, query, cursor);
    if ('failure' in fetched) return fetched;
    const ids = fetched.page.records.map(({ id }) => id);
    const page = { ...fetched, listed: ids.length };
    if (!associating || query.deleted || ids.length === 0) return page;
    const read = await fetchAssociations(caller, associating, query.object.name, ids);
    if ('failure' in read) return read;
    if ('tooMany' in read) {
      query.limit = Math.max(1, Math.floor(ids.length / 4));
      continue;
    }
    const links = associating.isCompared ? linksOf(associating, read.byId) : [];
    const linked = { ...page, associated: { byId: read.byId, links } };
    return comparison ? onlyChanged(caller, associating, comparison, query, linked) : linked;
  }
}

/** The page with those records whose associations are others than were delivered, as they are now. */
async function onlyChanged(
  caller: Caller,
  associating: Associating,
  { database, run, projectId, fields }: Comparison,
  query: ReadQuery,
  linked: LinkedPage & { associated: AssociatedPage },
): Promise<LinkedPage | { failure: Failure }> {
  const { page, associated } = linked;
  const ids = page.records.map(({ id }) => id);
  const known = await knownLinks(database, { projectId, ...run }, ids);
  const { links, changed } = compared(associated.links, known);
  const found = { ...linked, page: { ...page, records: [] }, associated: { ...associated, links } };
  if (changed.length === 0) return found;
  const read = await fetchRecords(caller, associating.ability, { ...query, fields }, changed);
  return 'failure' in read ? read : { ...found, page: { ...page, records: read.records } };
}

/** What a record is delivered with beside its fields; undefined where no associations are asked for. */
export function alsoOf(
  { objects }: Pick<Associating, 'objects'>,
  { byId }: AssociatedPage,
): (id: string) => Record<string, unknown> {
  return (id) => ({ associations: shapeAssociations(objects, byId.get(id) ?? []) });
}

/** What is remembered with the page: of records that are delivered, and of those that comparing found. */
export function rememberedOf({ links }: AssociatedPage, delivered: ReadonlySet<string>): Link[] {
  return links.flatMap(({ asFound, ...link }) => {
    const isDelivered = delivered.has(link.recordId);
    return isDelivered || asFound ? [{ ...link, delivered: isDelivered }] : [];
  });
}
