import type { Queryable } from './database.ts';
import type { Statement } from './statement.ts';

/** A stretch of history by UUIDv7, of one group or of all; both bounds are left out. */
export interface ErasedSlice {
  projectId: string;
  groupRef: string | null;
  after: string;
  until: string;
  /** When it was asked for, by the clock of the database and as it writes it: the bound of what is stored with its time. */
  askedAt: string;
}

/** What one statement removed of the next so many rows. */
export interface Erased {
  /** The last that was looked at; null when there was none. */
  last: string | null;
  /** How many were looked at: fewer than asked for at the end. */
  scanned: number;
  /** Rows that are gone. */
  removed: number;
  /** What stays because it is under way. */
  unfinished: number;
}

/** Removes the rows of a kind of history among the next `limit`. */
export type Eraser = (tx: Queryable, slice: ErasedSlice, limit: number) => Promise<Erased>;

const nothing: Erased = { last: null, scanned: 0, removed: 0, unfinished: 0 };

/** By a statement whose parameters are project, group, after, until, limit and the time when it was asked for. */
export const eraserBy =
  (erase: Statement): Eraser =>
  async (tx, { projectId, groupRef, after, until, askedAt }, limit) =>
    (await tx.rows<Erased>(erase, [projectId, groupRef, after, until, limit, askedAt]))[0] ?? nothing;

/** The same of what has no time but that of its id: without the last parameter. */
export const eraserByIds =
  (erase: Statement): Eraser =>
  async (tx, { projectId, groupRef, after, until }, limit) =>
    (await tx.rows<Erased>(erase, [projectId, groupRef, after, until, limit]))[0] ?? nothing;

/** An id has the time of the node that made it. One whose clock is a day away is not ready: no id of before lies further. */
const furthest = `svc_uuid_floor(svc_uuid_moment($4::uuid) + interval '1 day')`;

const scannedOf = (
  table: string,
  asked: string,
  isOver: string,
  end: string,
): string => `scanned AS MATERIALIZED (
    SELECT t.id, ${asked} AS asked, ${isOver} AS over FROM ${table} t
    WHERE t.project_id = $1 AND t.id > $3 AND t.id < ${end} ORDER BY t.id LIMIT $5),
  chosen AS MATERIALIZED (SELECT id FROM scanned WHERE asked AND over)`;

const isOfGroup = (groupOf: string): string => `($2::text IS NULL OR ${groupOf} = $2)`;

/**
 * A CTE `scanned`, the next rows of a project by its key, and `chosen`, the ids of those that go: made until it was asked for, by the
 * clock of the database. By id, so that each partition is asked by its index.
 */
export const chosenOf = (table: string, groupOf: string, isOver = 'true'): string =>
  scannedOf(table, `(t.created_at <= $6::timestamptz AND ${isOfGroup(groupOf)})`, isOver, furthest);

/** The same by the times of ids alone, which are those of nodes. */
export const chosenByIds = (table: string, groupOf: string): string =>
  scannedOf(table, isOfGroup(groupOf), 'true', '$4');

/** The condition on a table whose rows go with the chosen ones. */
export const ofChosen = (key: string): string =>
  `project_id = $1 AND ${key} > $3 AND ${key} < ${furthest} AND ${key} = ANY (ARRAY (SELECT id FROM chosen))`;

const untilOf = (project: string, group: string): string =>
  `(SELECT e.until FROM erasure e WHERE e.project_id = ${project} AND coalesce(e.group_ref, '') = ${group} ORDER BY e.until DESC LIMIT 1)`;

/**
 * Until when the last erasure removes what is of a group, as a UUIDv7; NULL without one. What waited in the memory of a node and is
 * older is not stored any more. Two looks into an index, however many erasures there were: a join goes through all of them.
 */
export const erasedUntil = (project: string, group: string): string =>
  `greatest(${untilOf(project, `coalesce(${group}, '')`)}, ${untilOf(project, `''`)})`;

/** The answer; `gone` lists CTEs with the rows that were removed. */
export const erasedOf = (
  gone: readonly string[],
): string => `SELECT (SELECT id FROM scanned ORDER BY id DESC LIMIT 1) AS last, (SELECT count(*) FROM scanned)::int AS scanned,
    (${gone.map((name) => `(SELECT count(*) FROM ${name})`).join(' + ')})::int AS removed,
    (SELECT count(*) FROM scanned WHERE asked AND NOT over)::int AS unfinished`;
