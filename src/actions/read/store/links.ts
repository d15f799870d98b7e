import type { Queryable } from '../../../kit/db/database.ts';
import { statement } from '../../../kit/db/statement.ts';
import { timestampOf } from './times.ts';

/** What is remembered of the associations of a record. */
export interface KnownLink {
  digests: Buffer;
  /** It was not found for so long that it will be forgotten unless it is now. */
  isOld: boolean;
}

/** What is to be remembered. `delivered`: whatever there is; otherwise only where nothing changed since `before`. */
export interface Link {
  recordId: string;
  digests: Buffer;
  before?: Buffer;
  delivered: boolean;
}

/** What was not found for so long is forgotten: its record is gone. */
const keptMs = 7 * 24 * 3_600_000;

interface Compared {
  projectId: string;
  installationId: string;
  objectName: string;
  /** When the run began, in milliseconds since the epoch. */
  until: number;
}

const known = statement(
  'read_links_known',
  `SELECT record_id AS "recordId", digests, seen_at < ${timestampOf('$4::float8')} AS "isOld" FROM read_link
  WHERE project_id = $1 AND installation_id = $2 AND object = $3 AND record_id = ANY ($5::text[])`,
);

export async function knownLinks(
  db: Queryable,
  { projectId, installationId, objectName, until }: Compared,
  recordIds: readonly string[],
): Promise<Map<string, KnownLink>> {
  const values = [projectId, installationId, objectName.toLowerCase(), until - keptMs, recordIds];
  const rows = await db.rows<KnownLink & { recordId: string }>(known, values);
  return new Map(rows.map(({ recordId, ...link }) => [recordId, link]));
}

const forget = statement(
  'read_links_forget',
  `DELETE FROM read_link
  WHERE project_id = $1 AND installation_id = $2 AND object = $3 AND seen_at < ${timestampOf('$4::float8')}`,
);

/** Once every record was looked at: those of records that were not there. */
export async function forgetLinks(
  db: Queryable,
  { projectId, installationId, objectName, until }: Compared,
): Promise<void> {
  await db.rows(forget, [projectId, installationId, objectName.toLowerCase(), until - keptMs]);
}

/**
 * CTEs that remember links with the pages in `source` (n, project_id, installation_id, object), the parameters from the given
 * one on. What was delivered counts; what was only found gives way to whatever came in between. Of two runs in one statement
 * the later one delivered last.
 */
export function linkParts(from: number, source: string): string {
  const types = ['int', 'text', 'text', 'text', 'boolean'];
  const arrays = types.map((type, at) => `$${from + at}::${type}[]`).join(', ');
  const key = 'project_id, installation_id, object, record_id';
  return `links AS MATERIALIZED (
    SELECT DISTINCT ON (${key}) ${key}, decode(l.digests, 'base64') AS digests, decode(l.before, 'base64') AS before, delivered
    FROM ${source} s JOIN unnest(${arrays}) AS l(n, record_id, digests, before, delivered) ON l.n = s.n
    ORDER BY ${key}, delivered DESC, s.n DESC),
  links_delivered AS (
    INSERT INTO read_link (${key}, digests, seen_at)
    SELECT ${key}, digests, now FROM clock, (SELECT * FROM links WHERE delivered ORDER BY ${key}) l
    ON CONFLICT (${key}) DO UPDATE SET digests = excluded.digests, seen_at = excluded.seen_at),
  links_begun AS (
    INSERT INTO read_link (${key}, digests, seen_at)
    SELECT ${key}, digests, now FROM clock, (SELECT * FROM links WHERE NOT delivered AND before IS NULL ORDER BY ${key}) l
    ON CONFLICT (${key}) DO NOTHING),
  links_found AS (
    UPDATE read_link r SET digests = l.digests, seen_at = now FROM clock, links l
    WHERE NOT l.delivered AND r.digests = l.before AND r.project_id = l.project_id
      AND r.installation_id = l.installation_id AND r.object = l.object AND r.record_id = l.record_id)`;
}

/** The parameters of {@link linkParts}; `n` is the number of the page. */
export function linkColumns(links: readonly (Link & { n: number })[]): unknown[] {
  return [
    links.map(({ n }) => n),
    links.map(({ recordId }) => recordId),
    links.map(({ digests }) => digests.toString('base64')),
    links.map(({ before }) => before?.toString('base64') ?? null),
    links.map(({ delivered }) => delivered),
  ];
}
