import { Type } from 'typebox';
import { sendList } from '../../kit/http/list.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { listOrPageOf } from '../../kit/paging-schema.ts';
import { listOrPage } from '../../kit/paging.ts';
import {
  changing,
  ProjectParams,
  projectOf,
  reading,
  RouteParams,
  tags,
  type NotificationDeps,
} from './place.ts';
import {
  CreateEventTopicRouteRequest,
  CreateTopicDestinationRouteRequest,
  EventTopicRoute,
  EventTopicRouteQuery,
  Notifications,
  SetNotificationsRequest,
  TopicDestinationRoute,
  TopicDestinationRouteQuery,
} from './schema.ts';
import { isId } from '../../kit/ids.ts';
import {
  listEventTopics,
  listTopicDestinations,
  type EventTopicRow,
  type TopicDestinationRow,
} from './store.ts';
import { topics } from './topic-routes.ts';

const base = '/projects/:projectIdOrName';
const eventTopicsUrl = `${base}/notification-event-topic-routes`;
const topicDestinationsUrl = `${base}/topic-destination-routes`;

/** Which events are told, and where, below `/v1`. */
export function notificationRoutes(deps: NotificationDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    atOnce(server, deps);
    topics(server, deps);
    eventTopics(server, deps);
    topicDestinations(server, deps);
    unrouting(server, deps);
  };
}

function atOnce(server: HttpServer, deps: NotificationDeps): void {
  const { notifications: routes } = deps.deliveries;
  const url = `${base}/notifications`;
  server.route({
    method: 'PUT',
    url,
    schema: {
      operationId: 'setNotifications',
      summary: 'Say which events are told, and where',
      description:
        'Replaces what an earlier call said; the same call again changes nothing. It stands beside the topics and their routes: a destination is told once, however many routes lead there.',
      tags,
      params: ProjectParams,
      body: SetNotificationsRequest,
      response: { 200: Notifications },
    },
    config: changing,
    handler: async (request) => routes.set(projectOf(deps, request), request.body.routes),
  });
  server.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'getNotifications',
      summary: 'Show which events are told, and where',
      tags,
      params: ProjectParams,
      response: { 200: Notifications },
    },
    config: reading,
    handler: async (request) => routes.get(projectOf(deps, request)),
  });
}

function eventTopics(server: HttpServer, deps: NotificationDeps): void {
  const { database } = deps.ground;
  const { notifications: routes } = deps.deliveries;
  server.route({
    method: 'POST',
    url: eventTopicsUrl,
    schema: {
      operationId: 'createNotificationEventTopicRoute',
      summary: 'Route events of a type to a topic',
      description: 'A route that exists already is answered as it is.',
      tags,
      params: ProjectParams,
      body: CreateEventTopicRouteRequest,
      response: { 201: EventTopicRoute },
    },
    config: changing,
    handler: async (request, reply) =>
      reply
        .code(201)
        .send(presentEventTopic(await routes.routeEvent(projectOf(deps, request), request.body))),
  });
  server.route({
    method: 'GET',
    url: eventTopicsUrl,
    schema: {
      operationId: 'listNotificationEventTopicRoutes',
      summary: 'List the routes from events to topics, newest first',
      tags,
      params: ProjectParams,
      querystring: EventTopicRouteQuery,
      response: { 200: listOrPageOf(EventTopicRoute) },
    },
    config: reading,
    handler: async (request, reply) => {
      const projectId = projectOf(deps, request);
      const { topicId } = request.query;
      const found = await listOrPage(
        request.query,
        async (slice) =>
          isUnknown(topicId) ? [] : listEventTopics(database, projectId, slice, request.query),
        (rows) => rows.map(presentEventTopic),
      );
      return sendList(reply, found);
    },
  });
}

function topicDestinations(server: HttpServer, deps: NotificationDeps): void {
  const { database } = deps.ground;
  const { notifications: routes } = deps.deliveries;
  server.route({
    method: 'POST',
    url: topicDestinationsUrl,
    schema: {
      operationId: 'createTopicDestinationRoute',
      summary: 'Route a topic to a destination',
      description: 'A route that exists already is answered as it is.',
      tags,
      params: ProjectParams,
      body: CreateTopicDestinationRouteRequest,
      response: { 201: TopicDestinationRoute },
    },
    config: changing,
    handler: async (request, reply) =>
      reply
        .code(201)
        .send(presentTopicDestination(await routes.routeTopic(projectOf(deps, request), request.body))),
  });
  server.route({
    method: 'GET',
    url: topicDestinationsUrl,
    schema: {
      operationId: 'listTopicDestinationRoutes',
      summary: 'List the routes from topics to destinations, newest first',
      tags,
      params: ProjectParams,
      querystring: TopicDestinationRouteQuery,
      response: { 200: listOrPageOf(TopicDestinationRoute) },
    },
    config: reading,
    handler: async (request, reply) => {
      const projectId = projectOf(deps, request);
      const { topicId, destinationId } = request.query;
      const found = await listOrPage(
        request.query,
        async (slice) =>
          isUnknown(topicId) || isUnknown(destinationId)
            ? []
            : listTopicDestinations(database, projectId, slice, request.query),
        (rows) => rows.map(presentTopicDestination),
      );
      return sendList(reply, found);
    },
  });
}

function unrouting(server: HttpServer, deps: NotificationDeps): void {
  const { notifications: routes } = deps.deliveries;
  server.route({
    method: 'DELETE',
    url: `${eventTopicsUrl}/:routeId`,
    schema: {
      operationId: 'deleteNotificationEventTopicRoute',
      summary: 'Delete a route from events to a topic',
      tags,
      params: RouteParams,
      response: { 204: Type.Null() },
    },
    config: changing,
    handler: async (request, reply) => {
      await routes.unrouteEvent(projectOf(deps, request), request.params.routeId);
      return reply.code(204).send(null);
    },
  });
  server.route({
    method: 'DELETE',
    url: `${topicDestinationsUrl}/:routeId`,
    schema: {
      operationId: 'deleteTopicDestinationRoute',
      summary: 'Delete a route from a topic to a destination',
      tags,
      params: RouteParams,
      response: { 204: Type.Null() },
    },
    config: changing,
    handler: async (request, reply) => {
      await routes.unrouteTopic(projectOf(deps, request), request.params.routeId);
      return reply.code(204).send(null);
    },
  });
}

/** What is no id is that of nothing. */
function isUnknown(id: string | undefined): boolean {
  return id !== undefined && !isId(id);
}

function presentEventTopic(row: EventTopicRow): EventTopicRoute {
  return {
    id: row.id,
    eventType: row.event_type,
    topicId: row.topic_id,
    projectId: row.project_id,
    createTime: row.created_at.toISOString(),
  };
}

function presentTopicDestination(row: TopicDestinationRow): TopicDestinationRoute {
  return {
    id: row.id,
    topicId: row.topic_id,
    destinationId: row.destination_id,
    projectId: row.project_id,
    createTime: row.created_at.toISOString(),
  };
}
