import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Database } from '../../kit/db/database.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { beforeIdOf, pageOf } from '../../kit/paging.ts';
import { exportAuditLog } from './export.ts';
import { presentAuditEntry } from './present.ts';
import { AuditEntry, AuditExportQuery, AuditPage, AuditQuery } from './schema.ts';
import { listAuditEntries } from './store.ts';

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
        return { results: results.map(presentAuditEntry), pagination };
      },
    });
    exporting(server, { ground, projects });
  };
}

function exporting(server: HttpServer, { ground, projects }: AuditRouteDeps): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/audit-log::export',
    // A HEAD would read the whole log in vain.
    exposeHeadRoute: false,
    schema: {
      operationId: 'exportAuditLog',
      summary: 'Take the audit log out, whole or of a time, newest first',
      description: 'An answer that breaks off is not whole: ask again.',
      tags: ['projects'],
      params: Type.Object({ projectIdOrName: Type.String({ description: 'Project id or name.' }) }),
      querystring: AuditExportQuery,
      response: {
        200: {
          description: 'A line for each entry.',
          content: {
            'application/x-ndjson': { schema: Type.Unsafe<Readable>(AuditEntry) },
            'text/csv': { schema: Type.Unsafe<Readable>(Type.String({ title: 'AuditTable' })) },
          },
        },
      },
    },
    config: { scopes: [], projectWide: true },
    handler: async ({ principal, params, query }, reply) => {
      const { id } = projects.resolveProject(principal, params.projectIdOrName);
      const type = query.format === 'csv' ? 'text/csv' : 'application/x-ndjson';
      void reply
        .type(`${type}; charset=utf-8`)
        .header('content-disposition', `attachment; filename="audit-log.${query.format}"`);
      return exportAuditLog(ground.database, id, query);
    },
  });
}
