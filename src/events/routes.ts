import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../kit/db/database.ts';
import type { HttpServer } from '../kit/http/server.ts';
import { isId } from '../kit/ids.ts';
import { beforeIdOf, pageOf } from '../kit/paging.ts';
import type { Reach } from './reach.ts';
import { EventPage, EventQuery, type Event } from './schema.ts';
import { listEvents, type EventRow } from './store.ts';

export interface EventDeps {
  ground: { database: Database };
  projects: { confine(principal: FastifyRequest['principal'], idOrName: string): Reach };
}

/** What happened in a project, below `/v1`. */
export function eventRoutes({ ground, projects }: EventDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'GET',
      url: '/projects/:projectIdOrName/events',
      schema: {
        operationId: 'listEvents',
        summary: 'List what happened to connections, installations and destinations, newest first',
        tags: ['connections'],
        params: Type.Object({ projectIdOrName: Type.String({ description: 'Project id or name.' }) }),
        querystring: EventQuery,
        response: { 200: EventPage },
      },
      config: { scopes: ['read'] },
      handler: async ({ principal, params, query }) => {
        const reach = projects.confine(principal, params.projectIdOrName);
        const { type, connectionId, pageSize, pageToken } = query;
        if (connectionId !== undefined && !isId(connectionId)) return eventPage([], pageSize);
        const rows = await listEvents(ground.database, reach, {
          before: beforeIdOf(pageToken),
          type,
          connectionId,
          limit: pageSize + 1,
        });
        return eventPage(rows, pageSize);
      },
    });
  };
}

function eventPage(rows: EventRow[], pageSize: number): EventPage {
  const { results, pagination } = pageOf(rows, pageSize, ({ id }) => id);
  return { results: results.map(presentEvent), pagination };
}

function presentEvent(row: EventRow): Event {
  return {
    id: row.id,
    type: row.type,
    ...(row.connection_id === null ? {} : { connectionId: row.connection_id }),
    ...(row.installation_id === null ? {} : { installationId: row.installation_id }),
    createTime: row.created_at.toISOString(),
    data: row.data,
  };
}
