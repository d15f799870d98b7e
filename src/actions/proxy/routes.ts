import { Type } from 'typebox';
import type { Ground } from '../../kit/ground.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { firstIdAt, isId } from '../../kit/ids.ts';
import { beforeIdOf, pageOf } from '../../kit/paging.ts';
import type { Projects } from '../../projects/index.ts';
import { searchLog, type LogQuery, type ProxyLogRow } from './log-store.ts';
import { ProxyLogPage, ProxyLogQuery, type ProxyLogEntry } from './schema.ts';

export interface ProxyLogDeps {
  ground: Pick<Ground, 'database'>;
  projects: Pick<Projects, 'confine'>;
}

/** The routes of the proxy's log, below `/v1`. */
export function proxyLogRoutes(deps: ProxyLogDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'GET',
      url: '/projects/:projectIdOrName/proxy-logs',
      schema: {
        operationId: 'listProxyLogs',
        summary: 'List the calls through the proxy of the last seven days, newest first',
        tags: ['proxy'],
        params: Type.Object(
          { projectIdOrName: Type.String({ description: 'Project id or name.' }) },
          { additionalProperties: false },
        ),
        querystring: ProxyLogQuery,
        response: { 200: ProxyLogPage },
      },
      config: { scopes: ['read'] },
      handler: async ({ principal, params, query }) => {
        const reach = deps.projects.confine(principal, params.projectIdOrName);
        const wanted = queryOf(query);
        if (!wanted) return { results: [], pagination: { done: true } };
        const rows = await searchLog(deps.ground.database, reach, wanted);
        const { results, pagination } = pageOf(rows, query.pageSize, (row) => row.id);
        return { results: results.map(presentEntry), pagination };
      },
    });
  };
}

/** Undefined when nothing can match. */
function queryOf(query: ProxyLogQuery): LogQuery | undefined {
  const { installationId, groupRef, method, path, status, since, until, pageSize, pageToken } = query;
  if (installationId !== undefined && !isId(installationId)) return undefined;
  const before = beforeIdOf(pageToken);
  const latest = until === undefined ? before : firstIdAt(until);
  return {
    before: before < latest ? before : latest,
    from: since === undefined ? '00000000-0000-0000-0000-000000000000' : firstIdAt(since),
    installationId,
    groupRef,
    method: method?.toUpperCase(),
    path,
    status: status === undefined ? undefined : rangeOf(status),
    limit: pageSize + 1,
  };
}

function rangeOf(status: string): readonly [number, number] {
  const least = Number(status.replace('xx', '00'));
  return [least, status.endsWith('xx') ? least + 99 : least];
}

function timeOf(id: string): string {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toISOString();
}

function presentEntry(row: ProxyLogRow): ProxyLogEntry {
  return {
    requestId: row.id,
    time: timeOf(row.id),
    integrationId: row.integration_id,
    installationId: row.installation_id,
    connectionId: row.connection_id,
    groupRef: row.group_ref,
    provider: row.provider,
    method: row.method,
    path: row.path,
    ...(row.status === null ? {} : { status: row.status }),
    ...(row.problem === null ? {} : { problem: row.problem }),
    ...(row.provider_ms === null ? {} : { providerMs: row.provider_ms }),
    totalMs: row.total_ms,
  };
}
