import { mostPageBytes } from '../paging-schema.ts';

/** Of a row that {@link documentPage} chose: whether the list goes on behind it. */
export interface Followed {
  followed: boolean;
}

/**
 * A statement that lists rows with documents, which may hold a megabyte each, and `followed`. `ids` selects the ids in the order of the
 * list; `bytes` selects what the documents of the row `page.id` hold, and `row` its columns. `page` has the ids that fit a page, by
 * their `place`, and `listed` all. Documents behind the page are not read: each of them costs as much as an answer. The rows are read
 * one by one: the planner takes a page for thousands of them, and joins a whole table to it.
 */
export const documentPage = ({ ids, bytes, row }: { ids: string; bytes: string; row: string }): string =>
  `WITH RECURSIVE listed AS MATERIALIZED (SELECT array(${ids}) AS ids),
   page AS (
     SELECT 1 AS place, ids[1] AS id, 0::bigint AS held FROM listed WHERE cardinality(ids) > 0
     UNION ALL
     SELECT place + 1, ids[place + 1], held + document.bytes
     FROM page CROSS JOIN listed CROSS JOIN LATERAL (${bytes}) document (bytes)
     WHERE place < cardinality(ids) AND held + document.bytes < ${mostPageBytes})
   SELECT shown.*, page.place < cardinality(listed.ids) AS followed
   FROM listed CROSS JOIN page CROSS JOIN LATERAL (${row} LIMIT 1) shown ORDER BY page.place`;
