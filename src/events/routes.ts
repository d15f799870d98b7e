import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../kit/db/database.ts';
import type { HttpServer } from '../kit/http/server.ts';
import { isId } from '../kit/ids.ts';
import { refuse } from '../kit/problem.ts';
import { AuditPage, AuditQuery, type AuditEntry } from './schema.ts';
import { listAuditEntries, type AuditRow } from './store.ts';

const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export interface AuditRouteDeps {
  ground: { database: Database };
  projects: { resolveProject(principal: FastifyRequest['principal'], idOrName: string): { id: string } };
}

/** The audit log of a project, below `/v1`. */
export function auditRoutes({ ground, projects }: AuditRouteDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'GET',
      url: '/projects/:projectIdOrName/audit-log',
      schema: {
        operationId: 'listAuditLog',
        summary: 'List administrative changes and disclosures of credentials, newest first',
        tags: ['projects'],
        params: Type.Object({ projectIdOrName: Type.String({ description: 'Project id or name.' }) }),
        querystring: AuditQuery,
        response: { 200: AuditPage },
      },
      config: { scopes: [], projectWide: true },
      handler: async ({ principal, params, query }) => {
        const { id } = projects.resolveProject(principal, params.projectIdOrName);
        const { pageSize, pageToken, ...filter } = query;
        const before = pageToken === undefined ? lastId : readToken(pageToken);
        const rows = await listAuditEntries(ground.database, id, { ...filter, before, limit: pageSize + 1 });
        return pageOf(rows, pageSize);
      },
    });
  };
}

/** Rows are one more than the page when there is another. */
function pageOf(rows: AuditRow[], pageSize: number): AuditPage {
  const shown = rows.slice(0, pageSize);
  const last = shown.at(-1);
  const isMore = rows.length > pageSize && last !== undefined;
  return {
    results: shown.map(present),
    pagination: isMore
      ? { done: false, nextPageToken: Buffer.from(last.id).toString('base64url') }
      : { done: true },
  };
}

function present(row: AuditRow): AuditEntry {
  return {
    id: row.id,
    time: row.created_at.toISOString(),
    action: row.action,
    target: { type: row.target_type, id: row.target_id },
    actor: {
      kind: row.actor_kind,
      ...(row.key_id === null ? {} : { keyId: row.key_id }),
      ...(row.group_ref === null ? {} : { groupRef: row.group_ref }),
      ...(row.consumer_ref === null ? {} : { consumerRef: row.consumer_ref }),
    },
    ...(row.address === null ? {} : { address: row.address }),
    ...(row.request_id === null ? {} : { requestId: row.request_id }),
    ...(row.details === null ? {} : { details: row.details }),
  };
}

function readToken(token: string): string {
  const id = Buffer.from(token, 'base64url').toString('utf8');
  if (isId(id)) return id;
  throw refuse([{ in: 'query', name: 'pageToken', detail: 'is not a token of this list' }]);
}
