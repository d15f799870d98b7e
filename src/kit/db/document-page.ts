import { mostPageBytes } from '../paging-schema.ts';

/** Of a row that {@link documentPage} chose: whether the list goes on behind it. */
export interface Followed {
  followed: boolean;
}

/**
 * The beginning of a statement that lists rows with documents, which may hold a megabyte each. `ids` selects the ids in the order of
 * the list; `bytes` selects what the documents of the row `page.id` hold. `page` has the ids that fit a page, by their `place`, and
 * `listed` all. Documents behind the page are not read: each of them costs as much as an answer.
 */
export const documentPage = ({ ids, bytes }: { ids: string; bytes: string }): string =>
  `WITH RECURSIVE listed AS MATERIALIZED (SELECT array(${ids}) AS ids),
   page AS (
     SELECT 1 AS place, ids[1] AS id, 0::bigint AS held FROM listed WHERE cardinality(ids) > 0
     UNION ALL
     SELECT place + 1, ids[place + 1], held + document.bytes
     FROM page CROSS JOIN listed CROSS JOIN LATERAL (${bytes}) document (bytes)
     WHERE place < cardinality(ids) AND held + document.bytes < ${mostPageBytes})`;

/** A column of a row of the page, where `listed` and `page` are joined. */
export const followed = 'page.place < cardinality(listed.ids) AS followed';
