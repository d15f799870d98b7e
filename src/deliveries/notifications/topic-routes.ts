import { Type } from 'typebox';
import { sendList } from '../../kit/http/list.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { listOrPageOf, optionalPageQuery } from '../../kit/paging-schema.ts';
import { listOrPage } from '../../kit/paging.ts';
import {
  changing,
  closed,
  project,
  ProjectParams,
  projectOf,
  reading,
  tags,
  type NotificationDeps,
} from './place.ts';
import { Topic, TopicRequest } from './schema.ts';
import { listTopics, type TopicRow } from './store.ts';

const url = '/projects/:projectIdOrName/topics';
const TopicParams = Type.Object({ ...project, topicId: Type.String({ description: 'Topic id.' }) }, closed);

/** What stands between events and destinations, below `/v1`. */
export function topics(server: HttpServer, deps: NotificationDeps): void {
  collection(server, deps);
  one(server, deps);
}

function collection(server: HttpServer, deps: NotificationDeps): void {
  const { database } = deps.ground;
  const { notifications: routes } = deps.deliveries;
  server.route({
    method: 'POST',
    url,
    schema: {
      operationId: 'createTopic',
      summary: 'Create a topic',
      description: 'Events are routed to topics, and topics to destinations.',
      tags,
      params: ProjectParams,
      body: TopicRequest,
      response: { 201: Topic },
    },
    config: changing,
    handler: async (request, reply) =>
      reply
        .code(201)
        .send(presentTopic(await routes.createTopic(projectOf(deps, request), request.body.name))),
  });
  server.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'listTopics',
      summary: 'List topics, newest first',
      tags,
      params: ProjectParams,
      querystring: Type.Object(optionalPageQuery, closed),
      response: { 200: listOrPageOf(Topic) },
    },
    config: reading,
    handler: async (request, reply) => {
      const projectId = projectOf(deps, request);
      const found = await listOrPage(
        request.query,
        (slice) => listTopics(database, projectId, slice),
        (rows) => rows.map(presentTopic),
      );
      return sendList(reply, found);
    },
  });
}

function one(server: HttpServer, deps: NotificationDeps): void {
  const { notifications: routes } = deps.deliveries;
  server.route({
    method: 'PATCH',
    url: `${url}/:topicId`,
    schema: {
      operationId: 'updateTopic',
      summary: 'Rename a topic',
      tags,
      params: TopicParams,
      body: TopicRequest,
      response: { 200: Topic },
    },
    config: changing,
    handler: async (request) => {
      const { params, body } = request;
      return presentTopic(await routes.renameTopic(projectOf(deps, request), params.topicId, body.name));
    },
  });
  server.route({
    method: 'DELETE',
    url: `${url}/:topicId`,
    schema: {
      operationId: 'deleteTopic',
      summary: 'Delete a topic and its routes',
      description: 'Notifications that are made already are delivered.',
      tags,
      params: TopicParams,
      response: { 204: Type.Null() },
    },
    config: changing,
    handler: async (request, reply) => {
      await routes.deleteTopic(projectOf(deps, request), request.params.topicId);
      return reply.code(204).send(null);
    },
  });
}

function presentTopic(row: TopicRow): Topic {
  return {
    id: row.id,
    name: row.name,
    projectId: row.project_id,
    createTime: row.created_at.toISOString(),
    updateTime: row.updated_at.toISOString(),
  };
}
