import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import { newId } from '../../kit/ids.ts';
import type { EventType } from './schema.ts';

/** SQL: the connection block of an event (product-api 3.4), of a row `c` that has the columns of `connections`. */
const connectionBlock = `jsonb_build_object('projectId', c.project_id, 'connectionId', c.id, 'provider', c.provider,
  'groupRef', c.group_ref, 'consumerRef', c.consumer_ref, 'consumerName',
  (SELECT k.name FROM consumers k WHERE k.project_id = c.project_id AND k.consumer_ref = c.consumer_ref))`;

/**
 * SQL: records an event for each row of `from`, within the statement that changes the row, so that both happen or none.
 * `id` is the parameter with the event's id; `more` a jsonb that is added to the block.
 */
export function eventOf(from: string, type: EventType, id: string, more?: string): string {
  const data = more === undefined ? connectionBlock : `${connectionBlock} || ${more}`;
  return `INSERT INTO event (project_id, id, type, group_ref, connection_id, data)
    SELECT c.project_id, ${id}::uuid, '${type}', c.group_ref, c.id, (${data})::json FROM ${from} c`;
}

const ofConnection = statement(
  'events_of_connection',
  `INSERT INTO event (project_id, id, type, group_ref, connection_id, data)
   SELECT c.project_id, $3::uuid, $4, c.group_ref, c.id, (${connectionBlock})::json FROM connections c
   WHERE c.project_id = $1 AND c.id = $2`,
);

const list = statement(
  'events_list',
  `SELECT id, type, connection_id, installation_id, data, created_at FROM event
   WHERE project_id = $1 AND id < $2::uuid AND ($3::text IS NULL OR type = $3)
     AND ($4::uuid IS NULL OR connection_id = $4) AND ($5::text IS NULL OR group_ref = $5)
   ORDER BY id DESC LIMIT $6`,
);

const forget = statement(
  'events_forget',
  `DELETE FROM event WHERE (project_id, id) IN (
     SELECT project_id, id FROM event WHERE id < svc_uuid_floor(svc_now() - interval '30 days') LIMIT $1)
   RETURNING id`,
);

/** Records what just happened to a connection, in the transaction of the change. */
export async function recordConnectionEvent(
  tx: Queryable,
  [projectId, id]: readonly [string, string],
  type: EventType,
): Promise<void> {
  await tx.rows(ofConnection, [projectId, id, newId(), type]);
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
  groupRef: string | undefined;
  limit: number;
}

/** Newest first. */
export function listEvents(db: Queryable, projectId: string, filter: EventFilter): Promise<EventRow[]> {
  const { before, type = null, connectionId = null, groupRef = null, limit } = filter;
  return db.rows<EventRow>(list, [projectId, before, type, connectionId, groupRef, limit]);
}

/** Drops events of more than 30 days ago, at most so many; returns how many. */
export async function forgetEvents(db: Queryable, atMost: number): Promise<number> {
  return (await db.rows(forget, [atMost])).length;
}
