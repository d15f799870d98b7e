import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../../kit/db/database.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { beforeIdOf, pageOf } from '../../kit/paging.ts';
import { AuditPage, AuditQuery, type AuditEntry } from './schema.ts';
import { listAuditEntries, type AuditRow } from './store.ts';

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
        const before = beforeIdOf(pageToken);
        const rows = await listAuditEntries(ground.database, id, { ...filter, before, limit: pageSize + 1 });
        const { results, pagination } = pageOf(rows, pageSize, (row) => row.id);
        return { results: results.map(present), pagination };
      },
    });
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
