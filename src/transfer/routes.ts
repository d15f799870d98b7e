import { Type } from 'typebox';
import type { HttpServer } from '../kit/http/server.ts';
import type { Projects } from '../projects/index.ts';
import { Export, ExportRequest, Import, ImportRequest, UndoneExport } from './schema.ts';
import type { Transfer } from './transfer.ts';

const closed = { additionalProperties: false } as const;
const tags = ['projects'];
const ProjectParams = Type.Object(
  { projectIdOrName: Type.String({ description: 'Project id or name.' }) },
  closed,
);
/** A file of the largest size, and what is around it. */
const bodyLimit = 32 * 1024 * 1024;

export interface TransferRouteDeps {
  transfer: Transfer;
  projects: Pick<Projects, 'confine' | 'get'>;
}

/** Taking a project from one server to another, below `/v1`. */
export function transferRoutes({
  transfer,
  projects,
}: TransferRouteDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'POST',
      url: '/projects/:projectIdOrName/exports',
      schema: {
        operationId: 'exportProject',
        summary: 'Export a project with its connections',
        description:
          'Integrations with their revisions, provider apps, keys, groups, connections with their credentials, installations with their configs, destinations with their secrets, routes of notifications, and how far each object was read. Operations, messages and other history stay behind. All of it is sealed with the passphrase.',
        tags,
        params: ProjectParams,
        body: ExportRequest,
        response: { 200: Export },
      },
      config: { scopes: 'owned', projectWide: true },
      handler: async ({ principal, params, body }, reply) => {
        const { projectId } = projects.confine(principal, params.projectIdOrName);
        const made = await transfer.export(await projects.get(projectId), body);
        return reply.header('cache-control', 'no-store').send(made);
      },
    });
    server.route({
      method: 'POST',
      url: '/projects/:projectIdOrName/exports::undo',
      schema: {
        operationId: 'undoExport',
        summary: 'Use the connections again that an export moved, and no more where its file came in',
        tags,
        params: ProjectParams,
        response: { 200: UndoneExport },
      },
      config: { scopes: 'owned', projectWide: true },
      handler: async ({ principal, params }) => ({
        connections: await transfer.undo(projects.confine(principal, params.projectIdOrName).projectId),
      }),
    });
    server.route({
      method: 'POST',
      url: '/projects/:projectIdOrName/imports',
      bodyLimit,
      schema: {
        operationId: 'importProject',
        summary: 'Import an exported project into this one',
        description:
          'Takes the scope `operator`, since the file says what stands in the tables: import files of servers that you trust alone. All of it comes in, or nothing. Ids stay as they are, and what is there under its id is left as it is, so that an import can be repeated; connections that the file hands over since (`move`) get its credentials, and keys that were revoked since are revoked. What clashes with something else is refused by name.',
        tags,
        params: ProjectParams,
        body: ImportRequest,
        response: { 200: Import },
      },
      // The file says what stands in the tables; nobody but an operator may.
      config: { scopes: ['operator'], projectWide: true },
      handler: ({ principal, params, body }) =>
        transfer.import(projects.confine(principal, params.projectIdOrName).projectId, body),
    });
  };
}
