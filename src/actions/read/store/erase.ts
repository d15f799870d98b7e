import { eraserByIds } from '../../../kit/db/erasing.ts';
import { statement } from '../../../kit/db/statement.ts';

// Not made at a time that an id tells: it goes on from the beginning until nothing is left.
const erase = statement(
  'read_links_erase',
  `WITH links AS (
    DELETE FROM read_link l WHERE l.ctid = ANY (ARRAY (
      SELECT n.ctid FROM read_link n
      WHERE n.project_id = $1 AND n.seen_at <= svc_uuid_moment($4::uuid) AND $3::uuid IS NOT NULL
        AND ($2::text IS NULL OR n.installation_id IN (SELECT id FROM installation WHERE project_id = $1 AND group_ref = $2))
      LIMIT $5))
    RETURNING 1)
  SELECT NULL AS last, (SELECT count(*) FROM links)::int AS scanned, (SELECT count(*) FROM links)::int AS removed, 0 AS unfinished`,
);

/** The ids of records that were read, and digests of what they are associated with. */
export const eraseReadLinks = eraserByIds(erase);
