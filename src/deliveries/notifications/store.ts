import type { EventType } from '../../events/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { Slice } from '../../kit/paging.ts';

export interface TopicRow {
  id: string;
  project_id: string;
  name: string;
  created_at: Date;
  updated_at: Date;
}

export interface EventTopicRow {
  id: string;
  project_id: string;
  event_type: EventType;
  topic_id: string;
  created_at: Date;
}

export interface TopicDestinationRow {
  id: string;
  project_id: string;
  topic_id: string;
  destination_id: string;
  created_at: Date;
}

const topics = {
  list: statement(
    'topics_list',
    `SELECT * FROM topic WHERE project_id = $1 AND ($2::uuid IS NULL OR id < $2) ORDER BY id DESC LIMIT $3`,
  ),
  insert: statement(
    'topic_insert',
    'INSERT INTO topic (project_id, id, name) VALUES ($1, $2, $3) RETURNING *',
  ),
  rename: statement(
    'topic_rename',
    'UPDATE topic SET name = $3, updated_at = svc_now() WHERE project_id = $1 AND id = $2 RETURNING *',
  ),
  remove: statement('topic_delete', 'DELETE FROM topic WHERE project_id = $1 AND id = $2 RETURNING *'),
  /** After the topic itself: whoever makes a route holds it until then. */
  removeRoutes: statement(
    'topic_delete_routes',
    `WITH events AS (DELETE FROM event_topic_route WHERE project_id = $1 AND topic_id = $2)
    DELETE FROM topic_destination_route WHERE project_id = $1 AND topic_id = $2`,
  ),
  hold: statement('topic_hold', 'SELECT id FROM topic WHERE project_id = $1 AND id = $2 FOR KEY SHARE'),
};

const eventTopics = {
  list: statement(
    'event_topic_routes_list',
    `SELECT * FROM event_topic_route WHERE project_id = $1 AND ($2::uuid IS NULL OR id < $2)
      AND ($4::uuid IS NULL OR topic_id = $4) AND ($5::text IS NULL OR event_type = $5)
    ORDER BY id DESC LIMIT $3`,
  ),
  insert: statement(
    'event_topic_route_insert',
    `INSERT INTO event_topic_route (project_id, id, event_type, topic_id) VALUES ($1, $2, $3, $4)
    ON CONFLICT (project_id, event_type, topic_id) DO NOTHING RETURNING *`,
  ),
  find: statement(
    'event_topic_route_find',
    'SELECT * FROM event_topic_route WHERE project_id = $1 AND event_type = $2 AND topic_id = $3',
  ),
  remove: statement(
    'event_topic_route_delete',
    'DELETE FROM event_topic_route WHERE project_id = $1 AND id = $2 RETURNING *',
  ),
};

const topicDestinations = {
  list: statement(
    'topic_destination_routes_list',
    `SELECT * FROM topic_destination_route WHERE project_id = $1 AND ($2::uuid IS NULL OR id < $2)
      AND ($4::uuid IS NULL OR topic_id = $4) AND ($5::uuid IS NULL OR destination_id = $5)
    ORDER BY id DESC LIMIT $3`,
  ),
  insert: statement(
    'topic_destination_route_insert',
    `INSERT INTO topic_destination_route (project_id, id, topic_id, destination_id) VALUES ($1, $2, $3, $4)
    ON CONFLICT (project_id, topic_id, destination_id) DO NOTHING RETURNING *`,
  ),
  find: statement(
    'topic_destination_route_find',
    'SELECT * FROM topic_destination_route WHERE project_id = $1 AND topic_id = $2 AND destination_id = $3',
  ),
  remove: statement(
    'topic_destination_route_delete',
    'DELETE FROM topic_destination_route WHERE project_id = $1 AND id = $2 RETURNING *',
  ),
};

const holdDestinations = statement(
  'notified_destinations_hold',
  `SELECT id, name, type FROM destination
  WHERE project_id = $1 AND (id = ANY ($2::uuid[]) OR lower(name) = ANY (SELECT lower(n) FROM unnest($3::text[]) n))
  ORDER BY id FOR KEY SHARE`,
);
/** Two who set them at once come one after the other. */
const lockRoutes = statement(
  'notification_routes_lock',
  'SELECT pg_advisory_xact_lock(7567972, hashtext($1::uuid::text))',
);
const setRoutes = statement(
  'notification_routes_set',
  `WITH wanted AS MATERIALIZED (SELECT * FROM unnest($2::text[], $3::uuid[]) AS w(event_type, destination_id)),
  gone AS (
    DELETE FROM notification_route r WHERE r.project_id = $1
      AND NOT EXISTS (SELECT FROM wanted w WHERE w.event_type = r.event_type AND w.destination_id = r.destination_id))
  INSERT INTO notification_route (project_id, event_type, destination_id)
  SELECT DISTINCT $1::uuid, event_type, destination_id FROM wanted
  ON CONFLICT DO NOTHING`,
);
const readRoutes = statement(
  'notification_routes_read',
  `SELECT r.direct, d.name AS destination, array_agg(DISTINCT r.event_type ORDER BY r.event_type) AS types FROM (
    SELECT true AS direct, event_type, destination_id FROM notification_route WHERE project_id = $1
    UNION ALL
    SELECT false, e.event_type, t.destination_id FROM event_topic_route e
    JOIN topic_destination_route t ON t.project_id = e.project_id AND t.topic_id = e.topic_id WHERE e.project_id = $1) r
  JOIN destination d ON d.project_id = $1 AND d.id = r.destination_id
  GROUP BY r.direct, d.name ORDER BY d.name`,
);
const forgetDestination = statement(
  'notified_destination_forget',
  `WITH topics AS (DELETE FROM topic_destination_route WHERE project_id = $1 AND destination_id = $2)
  DELETE FROM notification_route WHERE project_id = $1 AND destination_id = $2`,
);

const sliceOf = ({ beforeId = null, limit = null }: Slice): [string | null, number | null] => [
  beforeId,
  limit,
];

export function listTopics(db: Queryable, projectId: string, slice: Slice): Promise<TopicRow[]> {
  return db.rows(topics.list, [projectId, ...sliceOf(slice)]);
}

export async function insertTopic(
  tx: Queryable,
  projectId: string,
  id: string,
  name: string,
): Promise<TopicRow | undefined> {
  return (await tx.rows<TopicRow>(topics.insert, [projectId, id, name]))[0];
}

export async function renameTopic(
  tx: Queryable,
  projectId: string,
  id: string,
  name: string,
): Promise<TopicRow | undefined> {
  return (await tx.rows<TopicRow>(topics.rename, [projectId, id, name]))[0];
}

/** With its routes. */
export async function deleteTopic(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<TopicRow | undefined> {
  const [row] = await tx.rows<TopicRow>(topics.remove, [projectId, id]);
  if (row) await tx.rows(topics.removeRoutes, [projectId, id]);
  return row;
}

/** Whether there is such a topic; it stays until the commit. */
export async function holdTopic(tx: Queryable, projectId: string, id: string): Promise<boolean> {
  return (await tx.rows(topics.hold, [projectId, id])).length > 0;
}

export function listEventTopics(
  db: Queryable,
  projectId: string,
  slice: Slice,
  {
    topicId = null,
    eventType = null,
  }: { topicId?: string | undefined | null; eventType?: EventType | undefined | null },
): Promise<EventTopicRow[]> {
  return db.rows(eventTopics.list, [projectId, ...sliceOf(slice), topicId, eventType]);
}

/** `isNew`: there was none. */
export async function insertEventTopic(
  tx: Queryable,
  {
    projectId,
    id,
    eventType,
    topicId,
  }: { projectId: string; id: string; eventType: EventType; topicId: string },
): Promise<{ row: EventTopicRow | undefined; isNew: boolean }> {
  const [made] = await tx.rows<EventTopicRow>(eventTopics.insert, [projectId, id, eventType, topicId]);
  if (made) return { row: made, isNew: true };
  const [row] = await tx.rows<EventTopicRow>(eventTopics.find, [projectId, eventType, topicId]);
  return { row, isNew: false };
}

export async function deleteEventTopic(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<EventTopicRow | undefined> {
  return (await tx.rows<EventTopicRow>(eventTopics.remove, [projectId, id]))[0];
}

export function listTopicDestinations(
  db: Queryable,
  projectId: string,
  slice: Slice,
  {
    topicId = null,
    destinationId = null,
  }: { topicId?: string | undefined | null; destinationId?: string | undefined | null },
): Promise<TopicDestinationRow[]> {
  return db.rows(topicDestinations.list, [projectId, ...sliceOf(slice), topicId, destinationId]);
}

/** `isNew`: there was none. */
export async function insertTopicDestination(
  tx: Queryable,
  {
    projectId,
    id,
    topicId,
    destinationId,
  }: { projectId: string; id: string; topicId: string; destinationId: string },
): Promise<{ row: TopicDestinationRow | undefined; isNew: boolean }> {
  const values = [projectId, id, topicId, destinationId];
  const [made] = await tx.rows<TopicDestinationRow>(topicDestinations.insert, values);
  if (made) return { row: made, isNew: true };
  const [row] = await tx.rows<TopicDestinationRow>(topicDestinations.find, [
    projectId,
    topicId,
    destinationId,
  ]);
  return { row, isNew: false };
}

export async function deleteTopicDestination(
  tx: Queryable,
  projectId: string,
  id: string,
): Promise<TopicDestinationRow | undefined> {
  return (await tx.rows<TopicDestinationRow>(topicDestinations.remove, [projectId, id]))[0];
}

export interface NotifiedDestination {
  id: string;
  name: string;
  type: string;
}

/** Those of the destinations that exist, by id or name; they stay until the commit. */
export function holdNotified(
  tx: Queryable,
  projectId: string,
  { ids = [], names = [] }: { ids?: readonly string[]; names?: readonly string[] },
): Promise<NotifiedDestination[]> {
  return tx.rows(holdDestinations, [projectId, ids, names]);
}

/** These routes, and no other; those by topics stay. */
export async function setNotificationRoutes(
  tx: Queryable,
  projectId: string,
  routes: readonly { eventType: EventType; destinationId: string }[],
): Promise<void> {
  await tx.rows(lockRoutes, [projectId]);
  const types = routes.map(({ eventType }) => eventType);
  await tx.rows(setRoutes, [projectId, types, routes.map(({ destinationId }) => destinationId)]);
}

export interface RoutesRow {
  /** Not by a topic. */
  direct: boolean;
  destination: string;
  types: EventType[];
}

export function readNotificationRoutes(db: Queryable, projectId: string): Promise<RoutesRow[]> {
  return db.rows(readRoutes, [projectId]);
}

/** Nothing is routed to a destination that is gone. */
export async function forgetRoutesTo(tx: Queryable, projectId: string, destinationId: string): Promise<void> {
  await tx.rows(forgetDestination, [projectId, destinationId]);
}
