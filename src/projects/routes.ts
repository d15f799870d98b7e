import { Type } from 'typebox';
import { sendList } from '../kit/http/list.ts';
import type { HttpServer } from '../kit/http/server.ts';
import { shownName } from '../kit/reference-schema.ts';
import { listOrPageOf, optionalPageQuery } from '../kit/paging-schema.ts';
import { listOrPageOfAll } from '../kit/paging.ts';
import { UpdateMask } from '../kit/update-mask-schema.ts';
import { readMask } from '../kit/update-mask.ts';
import { providerAppRoutes } from './provider-apps/routes.ts';
import { connectLinkRoutes } from './embed/connect-link-routes.ts';
import { frontendTokenRoutes } from './embed/frontend-token-routes.ts';
import { integrationRoutes } from './integrations/routes.ts';
import { apiKeyRoutes } from './keys/api-key-routes.ts';
import { jwtKeyRoutes } from './keys/jwt-key-routes.ts';
import { ProjectParams } from './path-params.ts';
import type { Projects } from './projects.ts';
import { AllowedOrigins, ApiKey, Branding, KeepDays, KeepDaysChange, Project } from './schema.ts';
import type { ProjectChange } from './store.ts';

const closed = { additionalProperties: false } as const;
const Name = Type.String({
  minLength: 2,
  maxLength: 128,
  pattern: '^[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]$',
  description: 'Unique over the service; kept in lower case.',
});
const AppName = shownName(128);

const NewProject = Type.Object(
  {
    name: Name,
    appName: Type.Optional(AppName),
    orgId: Type.Optional(
      Type.String({ maxLength: 255, description: 'Accepted from older clients; there is one organization.' }),
    ),
  },
  { ...closed, title: 'CreateProjectRequest' },
);
const ProjectUpdate = Type.Object(
  {
    updateMask: UpdateMask,
    project: Type.Object(
      {
        name: Type.Optional(Name),
        appName: Type.Optional(AppName),
        allowedOrigins: Type.Optional(AllowedOrigins),
        branding: Type.Optional(Branding),
        keepDays: Type.Optional(KeepDaysChange),
      },
      closed,
    ),
  },
  { ...closed, title: 'UpdateProjectRequest' },
);
const NewProjectAnswer = Type.Object(
  { ...Project.properties, apiKey: ApiKey },
  {
    ...closed,
    title: 'CreatedProject',
    description: 'The project with its first key, which is shown here only.',
  },
);

const kindMasks = Object.keys(KeepDays.properties).map((kind) => `keepDays.${kind}`);
const masks = ['name', 'appName', 'allowedOrigins', 'branding', 'keepDays', ...kindMasks];

/** A mask of one kind of history leaves the others as they are. */
function changeOf(values: ReadonlyMap<string, unknown>): ProjectChange {
  const kinds = [...values].filter(([mask]) => kindMasks.includes(mask));
  const keepDaysOf = Object.fromEntries(kinds.map(([mask, days]) => [mask.slice('keepDays.'.length), days]));
  const others = Object.fromEntries([...values].filter(([mask]) => !kindMasks.includes(mask)));
  return { ...others, ...(kinds.length > 0 ? { keepDaysOf } : {}) };
}

/** Projects and everything of the builder's side below them. */
export function projectRoutes(projects: Projects): (server: HttpServer) => Promise<void> {
  return async (server) => {
    listAndCreate(server, projects);
    one(server, projects);
    await server.register(apiKeyRoutes(projects));
    await server.register(jwtKeyRoutes(projects));
    await server.register(frontendTokenRoutes(projects));
    await server.register(connectLinkRoutes(projects));
    await server.register(providerAppRoutes(projects));
    await server.register(integrationRoutes(projects));
  };
}

function listAndCreate(server: HttpServer, projects: Projects): void {
  server.route({
    method: 'GET',
    url: '/projects',
    schema: {
      operationId: 'listProjects',
      summary: 'List the projects that the credentials reach',
      tags: ['projects'],
      querystring: Type.Object(optionalPageQuery, closed),
      response: { 200: listOrPageOf(Project) },
    },
    config: { scopes: ['read', 'frontend'] },
    handler: async (request, reply) =>
      sendList(reply, listOrPageOfAll(request.query, await projects.listFor(request.principal))),
  });
  server.route({
    method: 'POST',
    url: '/projects',
    schema: {
      operationId: 'createProject',
      summary: 'Make a project and its first API key',
      tags: ['projects'],
      body: NewProject,
      response: { 201: NewProjectAnswer },
    },
    config: { scopes: ['operator'], projectWide: true },
    handler: async (request, reply) =>
      reply
        .code(201)
        .header('cache-control', 'no-store')
        .send(await projects.create(request.body)),
  });
}

function one(server: HttpServer, projects: Projects): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName',
    schema: {
      operationId: 'getProject',
      summary: 'Get a project',
      tags: ['projects'],
      params: ProjectParams,
      response: { 200: Project },
    },
    config: { scopes: ['read', 'frontend'] },
    handler: async (request) =>
      projects.get(projects.resolveProject(request.principal, request.params.projectIdOrName).id),
  });
  server.route({
    method: 'PATCH',
    url: '/projects/:projectIdOrName',
    schema: {
      operationId: 'updateProject',
      summary: 'Change a project',
      tags: ['projects'],
      params: ProjectParams,
      body: ProjectUpdate,
      response: { 200: Project },
    },
    config: { scopes: [], projectWide: true },
    handler: async (request) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      const { updateMask, project } = request.body;
      return projects.update(id, changeOf(readMask(updateMask, masks, project, 'project')));
    },
  });
}
