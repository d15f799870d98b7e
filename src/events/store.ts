import type { Queryable } from '../kit/db/database.ts';
import { documentPage, type Followed } from '../kit/db/document-page.ts';
import { statement } from '../kit/db/statement.ts';
import { currentTrace } from '../kit/trace.ts';
import type { Reach } from './reach.ts';
import type { EventType } from './schema.ts';

const insert = statement(
  'events_insert',
  `INSERT INTO event (project_id, id, type, group_ref, connection_id, installation_id, data, trace)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

/** The columns of an event that a source of {@link eventsFrom} has. */
const columns = 'project_id, id, type, group_ref, connection_id, installation_id, data, trace';

/**
 * A part of a statement that records events together with what they tell, for a source with the columns of an event. `told_events` has
 * each as `event`, for `svc_tell`, which the statement has to call: the trigger leaves them alone then.
 */
export const eventsFrom = (source: string): string => `told_events AS (
    INSERT INTO event AS e (${columns}) SELECT ${columns} FROM (${source}) s RETURNING e AS event)`;

const list = statement(
  'events_list',
  documentPage({
    ids: `SELECT id FROM event
      WHERE project_id = $1 AND id < $2::uuid AND id >= svc_kept_from($1, 'events') AND ($3::text IS NULL OR type = $3)
        AND ($4::uuid IS NULL OR connection_id = $4) AND ($5::text IS NULL OR group_ref = $5)
      ORDER BY id DESC LIMIT $6`,
    bytes: 'SELECT octet_length(data::text) FROM event WHERE project_id = $1 AND id = page.id',
    row: `SELECT id, type, connection_id, installation_id, data, created_at FROM event WHERE project_id = $1 AND id = page.id`,
  }),
);

/** What an event says, and which connection and installation it is about. */
export interface Told {
  type: EventType;
  /** Absent: it concerns no group, and nobody who is confined to one sees it. */
  groupRef?: string | undefined;
  connectionId?: string | undefined;
  installationId?: string | undefined;
  /** As JSON, in the words of the room that tells it: numbers in it may be longer than ours. */
  data: string;
}

export async function insertEvent(tx: Queryable, projectId: string, id: string, told: Told): Promise<void> {
  const { type, groupRef = null, connectionId = null, installationId = null, data } = told;
  await tx.rows(insert, [
    projectId,
    id,
    type,
    groupRef,
    connectionId,
    installationId,
    data,
    currentTrace() ?? null,
  ]);
}

export interface EventRow {
  id: string;
  type: EventType;
  connection_id: string | null;
  installation_id: string | null;
  data: Record<string, unknown>;
  created_at: Date;
}

export interface EventFilter {
  before: string;
  type: EventType | undefined;
  connectionId: string | undefined;
  limit: number;
}

/** Newest first, as many as fit a page. */
export function listEvents(
  db: Queryable,
  reach: Reach,
  filter: EventFilter,
): Promise<(EventRow & Followed)[]> {
  const { before, type = null, connectionId = null, limit } = filter;
  const values = [reach.projectId, before, type, connectionId, reach.groupRef ?? null, limit];
  return db.rows<EventRow & Followed>(list, values);
}
