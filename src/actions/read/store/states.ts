import type { Queryable } from '../../../kit/db/database.ts';
import { statement } from '../../../kit/db/statement.ts';
import { feedColumns, type FeedRow } from './feeds.ts';

/** How a read stands by its feeds alone, the first that is true. Whether its config switches it off is not known to them. */
export type Standing = 'removed' | 'paused' | 'failing' | 'running' | 'idle';

/** Of the feed `f`, the feed `a` of its associations, and the run `r` of its history while that goes on. */
const standing = `CASE
    WHEN f.paused = 'removed' THEN 'removed'
    WHEN f.paused IS NOT NULL OR a.paused IS NOT NULL THEN 'paused'
    WHEN f.failures > 0 OR a.failures > 0 THEN 'failing'
    WHEN f.run_id IS NOT NULL OR a.run_id IS NOT NULL OR r.id IS NOT NULL THEN 'running'
    ELSE 'idle' END`;

/** Of one installation, or of all from that of the place on. */
const within = (id: string): string =>
  `${id} BETWEEN coalesce($2::uuid, $3::uuid) AND coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')`;

/**
 * Looks at `$5` feeds by their key, behind the place `$3` and `$4`, and answers with the feeds of both kinds of those that pass, and with
 * where it has looked to. LIMIT keeps the look-ups by key apart.
 */
const listed = (feeds: string): string => `WITH looked AS MATERIALIZED (
    SELECT f.installation_id, f.object, f.paused, f.failures, f.run_id, f.backfill_id, f.schedule FROM ${feeds}
    WHERE f.project_id = $1 AND f.kind = 'records' AND (f.installation_id, f.object) > ($3::uuid, $4::text)
      AND ${within('f.installation_id')}
    ORDER BY f.installation_id, f.object LIMIT $5),
  page AS MATERIALIZED (
    SELECT f.installation_id, f.object, s.standing FROM looked f
    LEFT JOIN LATERAL (
      SELECT a.paused, a.failures, a.run_id FROM read_feed a
      WHERE a.project_id = $1 AND a.installation_id = f.installation_id AND a.object = f.object AND a.kind = 'associations' LIMIT 1) a ON true
    LEFT JOIN LATERAL (SELECT r.id FROM read_run r WHERE r.project_id = $1 AND r.id = f.backfill_id LIMIT 1) r ON true
    CROSS JOIN LATERAL (SELECT ${standing} AS standing) s
    WHERE ($7::text IS NULL OR f.object = $7) AND ($8::text[] IS NULL OR s.standing = ANY ($8))
      AND ($9::boolean IS NOT TRUE OR f.schedule IS NULL)
    ORDER BY f.installation_id, f.object LIMIT $6)
  SELECT e.*, p.installation_id AS "installationId", p.standing, f.* FROM (
    SELECT (SELECT count(*)::int FROM looked) AS looked, installation_id AS "lastInstallationId", object AS "lastObject"
    FROM looked ORDER BY installation_id DESC, object DESC LIMIT 1) e
  LEFT JOIN page p ON true
  LEFT JOIN LATERAL (
    SELECT ${feedColumns} FROM read_feed f
    WHERE f.project_id = $1 AND f.installation_id = p.installation_id AND f.object = p.object LIMIT 2) f ON true
  ORDER BY p.installation_id, p.object, f.kind`;

const ofProject = statement('read_states_of_project', listed('read_feed f'));

const ofGroup = statement(
  'read_states_of_group',
  listed(`installation n
    JOIN read_feed f ON f.project_id = n.project_id AND f.installation_id = n.id AND n.project_id = $1 AND n.group_ref = $10
      AND ${within('n.id')}`),
);

/** A read as its feeds have it. */
export interface ReadRow {
  installationId: string;
  object: string;
  standing: Standing;
  records: FeedRow;
  /** Missing where associations are not compared. */
  associations: FeedRow | undefined;
}

/** Which reads; all of it holds. */
export interface ReadFilter {
  groupRef?: string | undefined;
  installationId?: string | undefined;
  /** The provider's name, in any case. */
  object?: string | undefined;
  standings?: readonly Standing[] | undefined;
  /** Those without a schedule alone. */
  isUnscheduled?: boolean | undefined;
}

/** Where a list goes on: behind this read. */
export interface ReadPlace {
  installationId: string;
  object: string;
}

/** Before every read. */
export const beginning: ReadPlace = { installationId: '00000000-0000-0000-0000-000000000000', object: '' };

/** Reads that pass a filter, `limit` at the most, and the place that was looked to unless nothing comes behind it. */
export interface ReadSlice {
  rows: ReadRow[];
  lookedTo: ReadPlace | undefined;
}

/** Those of an installation, in the order of their objects. */
export async function readsOf(db: Queryable, projectId: string, installationId: string): Promise<ReadRow[]> {
  const of = { filter: { installationId }, after: beginning, looks: null, limit: null };
  return (await listReads(db, projectId, of)).rows;
}

/** By installation and object; the oldest installation first. Looks at `looks` reads at the most. */
export async function listReads(
  db: Queryable,
  projectId: string,
  asked: { filter: ReadFilter; after: ReadPlace; looks: number | null; limit: number | null },
): Promise<ReadSlice> {
  const { filter, after, looks, limit } = asked;
  const { groupRef, installationId, object, standings, isUnscheduled } = filter;
  const bounds = [installationId ?? null, after.installationId, after.object, looks, limit];
  const values = [
    projectId,
    ...bounds,
    object?.toLowerCase() ?? null,
    standings ?? null,
    isUnscheduled ?? null,
  ];
  const rows =
    groupRef === undefined
      ? await db.rows<ListedRow>(ofProject, values)
      : await db.rows<ListedRow>(ofGroup, [...values, groupRef]);
  const [first] = rows;
  const isMore = first !== undefined && first.looked === looks;
  const lookedTo = isMore
    ? { installationId: first.lastInstallationId, object: first.lastObject }
    : undefined;
  return { rows: readsIn(rows), lookedTo };
}

/** A feed that passes; all of the feed is null where none does. */
type ListedRow = FeedRow &
  Pick<ReadRow, 'installationId' | 'standing'> & {
    looked: number;
    lastInstallationId: string;
    lastObject: string;
  };

/** The feeds of a read in one. Pure. */
function readsIn(rows: readonly ListedRow[]): ReadRow[] {
  const placeOf = ({ installationId, object }: ListedRow): string => `${installationId} ${object}`;
  const compared = rows.filter(({ kind }) => kind === 'associations');
  const associations = new Map(compared.map((row) => [placeOf(row), row]));
  return rows
    .filter(({ kind }) => kind === 'records')
    .map((records) => ({
      installationId: records.installationId,
      object: records.object,
      standing: records.standing,
      records,
      associations: associations.get(placeOf(records)),
    }));
}
