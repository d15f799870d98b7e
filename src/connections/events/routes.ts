import { Type } from 'typebox';
import type { Database } from '../../kit/db/database.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { isId } from '../../kit/ids.ts';
import { refuse } from '../../kit/problem.ts';
import type { Projects } from '../../projects/index.ts';
import { EventPage, EventQuery, type Event } from './schema.ts';
import { listEvents, type EventRow } from './store.ts';

export interface EventDeps {
  ground: { database: Database };
  projects: Pick<Projects, 'resolveProject'>;
}

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** What happened in a project, below `/v1`. */
export function eventRoutes({ ground, projects }: EventDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'GET',
      url: '/projects/:projectIdOrName/events',
      schema: {
        operationId: 'listEvents',
        summary: 'List what happened to connections and installations in the last 30 days, newest first',
        tags: ['connections'],
        params: Type.Object({ projectIdOrName: Type.String({ description: 'Project id or name.' }) }),
        querystring: EventQuery,
        response: { 200: EventPage },
      },
      config: { scopes: ['read'] },
      handler: async ({ principal, params, query }) => {
        const { id } = projects.resolveProject(principal, params.projectIdOrName);
        const { type, connectionId, pageSize, pageToken } = query;
        if (connectionId !== undefined && !isId(connectionId)) return pageOf([], pageSize);
        const rows = await listEvents(ground.database, id, {
          before: pageToken === undefined ? lastId : readToken(pageToken),
          type,
          connectionId,
          groupRef: principal.groupRef,
          limit: pageSize + 1,
        });
        return pageOf(rows, pageSize);
      },
    });
  };
}

/** Rows are one more than the page when there is another. */
function pageOf(rows: EventRow[], pageSize: number): EventPage {
  const shown = rows.slice(0, pageSize);
  const last = shown.at(-1);
  const isMore = rows.length > pageSize && last !== undefined;
  return {
    results: shown.map(presentEvent),
    pagination: isMore
      ? { done: false, nextPageToken: Buffer.from(last.id).toString('base64url') }
      : { done: true },
  };
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

function readToken(token: string): string {
  const id = Buffer.from(token, 'base64url').toString('utf8');
  if (isId(id)) return id;
  throw refuse([{ in: 'query', name: 'pageToken', detail: 'is not a token of this list' }]);
}
