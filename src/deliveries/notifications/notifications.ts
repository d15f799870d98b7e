import { record, type EventType } from '../../events/index.ts';
import type { Database, Queryable } from '../../kit/db/database.ts';
import { sqlState } from '../../kit/db/faults.ts';
import { isId, newId } from '../../kit/ids.ts';
import { problem } from '../../kit/problem.ts';
import type { NotificationRoute, Notifications } from './schema.ts';
import * as store from './store.ts';

/** Which events are told, and where. Every function throws not-found for what the project has not. */
export interface NotificationRoutes {
  createTopic(projectId: string, name: string): Promise<store.TopicRow>;
  renameTopic(projectId: string, id: string, name: string): Promise<store.TopicRow>;
  /** With its routes. */
  deleteTopic(projectId: string, id: string): Promise<void>;
  /** What is so already stays as it is. */
  routeEvent(
    projectId: string,
    route: { eventType: EventType; topicId: string },
  ): Promise<store.EventTopicRow>;
  unrouteEvent(projectId: string, id: string): Promise<void>;
  /** Throws destination-takes-records-only. */
  routeTopic(
    projectId: string,
    route: { topicId: string; destinationId: string },
  ): Promise<store.TopicDestinationRow>;
  unrouteTopic(projectId: string, id: string): Promise<void>;
  get(projectId: string): Promise<Notifications>;
  /** These and no other; what topics lead to stays. Throws destination-takes-records-only. */
  set(projectId: string, routes: readonly NotificationRoute[]): Promise<Notifications>;
}

/** `takesRecordsOnly` tells of a type of destination. */
export function createNotificationRoutes(
  database: Database,
  takesRecordsOnly: (type: string) => boolean,
): NotificationRoutes {
  return {
    ...topicsIn(database),
    ...topicRoutesIn(database, takesRecordsOnly),
    get: (projectId) => read(database, projectId),
    set: (projectId, routes) =>
      database.transaction(async (tx) => {
        const wanted = await resolve(tx, projectId, routes, takesRecordsOnly);
        await store.setNotificationRoutes(tx, projectId, wanted);
        await record(tx, {
          projectId,
          action: 'notifications.changed',
          targetId: projectId,
          details: { routes: routes.map(({ eventTypes, destination }) => ({ eventTypes, destination })) },
        });
        return read(tx, projectId);
      }),
  };
}

function topicsIn(
  database: Database,
): Pick<NotificationRoutes, 'createTopic' | 'renameTopic' | 'deleteTopic'> {
  return {
    createTopic: (projectId, name) =>
      naming(name, () =>
        database.transaction(async (tx) => {
          const row = (await store.insertTopic(tx, projectId, newId(), name)) ?? absent('topic', name);
          await record(tx, { projectId, action: 'topic.created', targetId: row.id, details: { name } });
          return row;
        }),
      ),
    renameTopic: (projectId, id, name) =>
      naming(name, () =>
        database.transaction(async (tx) => {
          const row = (isId(id) && (await store.renameTopic(tx, projectId, id, name))) || absent('topic', id);
          await record(tx, { projectId, action: 'topic.updated', targetId: id, details: { name } });
          return row;
        }),
      ),
    deleteTopic: (projectId, id) =>
      database.transaction(async (tx) => {
        const row = (isId(id) && (await store.deleteTopic(tx, projectId, id))) || absent('topic', id);
        await record(tx, { projectId, action: 'topic.deleted', targetId: id, details: { name: row.name } });
      }),
  };
}

function topicRoutesIn(
  database: Database,
  takesRecordsOnly: (type: string) => boolean,
): Pick<NotificationRoutes, 'routeEvent' | 'unrouteEvent' | 'routeTopic' | 'unrouteTopic'> {
  return {
    routeEvent: (projectId, { eventType, topicId }) =>
      database.transaction(async (tx) => {
        await holdTopic(tx, projectId, topicId);
        const route = { projectId, id: newId(), eventType, topicId };
        const { row = absent('route', route.id), isNew } = await store.insertEventTopic(tx, route);
        const details = { eventType, topicId };
        if (isNew)
          await record(tx, { projectId, action: 'eventTopicRoute.created', targetId: row.id, details });
        return row;
      }),
    unrouteEvent: (projectId, id) =>
      database.transaction(async (tx) => {
        const row = (isId(id) && (await store.deleteEventTopic(tx, projectId, id))) || absent('route', id);
        const details = { eventType: row.event_type, topicId: row.topic_id };
        await record(tx, { projectId, action: 'eventTopicRoute.deleted', targetId: id, details });
      }),
    routeTopic: (projectId, { topicId, destinationId }) =>
      database.transaction(async (tx) => {
        await holdTopic(tx, projectId, topicId);
        const ids = isId(destinationId) ? [destinationId] : [];
        const [found = absent('destination', destinationId)] = await store.holdNotified(tx, projectId, {
          ids,
        });
        assertTakes(found, takesRecordsOnly);
        const route = { projectId, id: newId(), topicId, destinationId };
        const { row = absent('route', route.id), isNew } = await store.insertTopicDestination(tx, route);
        const details = { topicId, destination: found.name };
        if (isNew)
          await record(tx, { projectId, action: 'topicDestinationRoute.created', targetId: row.id, details });
        return row;
      }),
    unrouteTopic: (projectId, id) =>
      database.transaction(async (tx) => {
        const row =
          (isId(id) && (await store.deleteTopicDestination(tx, projectId, id))) || absent('route', id);
        const details = { topicId: row.topic_id, destinationId: row.destination_id };
        await record(tx, { projectId, action: 'topicDestinationRoute.deleted', targetId: id, details });
      }),
  };
}

async function holdTopic(tx: Queryable, projectId: string, id: string): Promise<void> {
  if (!isId(id) || !(await store.holdTopic(tx, projectId, id))) absent('topic', id);
}

function assertTakes(
  { name, type }: store.NotifiedDestination,
  takesRecordsOnly: (type: string) => boolean,
): void {
  if (!takesRecordsOnly(type)) return;
  const detail = `The destination ${name} is of type ${type}, which takes records only.`;
  throw problem('destination-takes-records-only', { detail });
}

async function resolve(
  tx: Queryable,
  projectId: string,
  routes: readonly NotificationRoute[],
  takesRecordsOnly: (type: string) => boolean,
): Promise<{ eventType: EventType; destinationId: string }[]> {
  const named = routes.map(({ destination }) => destination.replaceAll('\0', ''));
  const found = await store.holdNotified(tx, projectId, {
    ids: named.filter((one) => isId(one)),
    names: named.filter((one) => !isId(one)),
  });
  for (const one of found) assertTakes(one, takesRecordsOnly);
  return routes.flatMap(({ eventTypes, destination }) => {
    const isIt = ({ id, name }: store.NotifiedDestination): boolean =>
      [id, name.toLowerCase()].includes(destination.toLowerCase());
    const { id: destinationId } = found.find(isIt) ?? absent('destination', destination);
    return eventTypes.map((eventType) => ({ eventType, destinationId }));
  });
}

async function read(db: Queryable, projectId: string): Promise<Notifications> {
  const rows = await store.readNotificationRoutes(db, projectId);
  const those = (wanted: boolean): NotificationRoute[] =>
    rows
      .filter(({ direct }) => direct === wanted)
      .map(({ destination, types }) => ({ eventTypes: types, destination }));
  return { routes: those(true), byTopics: those(false) };
}

const uniqueViolation = '23505';

async function naming<Made>(name: string, make: () => Promise<Made>): Promise<Made> {
  try {
    return await make();
  } catch (error) {
    if (sqlState(error) !== uniqueViolation) throw error;
    throw problem('already-exists', { detail: `There is a topic ${name} already.`, cause: error });
  }
}

function absent(what: 'topic' | 'route' | 'destination', id: string): never {
  throw problem('not-found', { detail: `There is no ${what} ${id}.` });
}
