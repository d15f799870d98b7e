import { Type, type Static } from 'typebox';
import { readTextBody } from '../../kit/http/body.ts';
import { sendList } from '../../kit/http/list.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import {
  documentPageQuery,
  listOrPageOf,
  optionalDocumentPageQuery,
  pageOf,
} from '../../kit/paging-schema.ts';
import { problem, refuse, type Issue } from '../../kit/problem.ts';
import { maxManifestBytes } from '../manifest/read-yaml.ts';
import { ProjectParams, projectParam } from '../path-params.ts';
import type { Projects } from '../projects.ts';
import {
  DeployedIntegration,
  DeployPreview,
  Integration,
  Manifest,
  ManifestIntegration,
  ManifestIssue,
  Revision,
} from '../schema.ts';
import type { Deployed } from './integrations.ts';
import { presentIntegration, presentRevision } from './present.ts';

const closed = { additionalProperties: false } as const;
const IntegrationParams = Type.Object({
  ...projectParam,
  integrationIdOrName: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'The id or name of the integration.',
  }),
});

const NewIntegration = Type.Object(
  {
    name: ManifestIntegration.properties.name,
    provider: ManifestIntegration.properties.provider,
    latestRevision: Type.Object(
      { specVersion: Manifest.properties.specVersion, content: ManifestIntegration },
      closed,
    ),
  },
  { ...closed, title: 'CreateIntegrationRequest' },
);
const Source = Type.Object(
  {
    sourceYaml: Type.Optional(
      Type.String({ maxLength: maxManifestBytes, description: 'The text of `svc.yaml`.' }),
    ),
    sourceZipUrl: Type.Optional(
      Type.String({ maxLength: 4_096, description: 'Not taken by this service: send `sourceYaml`.' }),
    ),
  },
  { ...closed, title: 'ManifestSource' },
);
const yamlType = 'application/yaml';
const ManifestText = Type.String({
  title: 'ManifestText',
  maxLength: maxManifestBytes,
  description: 'The text of `svc.yaml`, as it is.',
});
const SourceBody = {
  content: { 'application/json': { schema: Source }, [yamlType]: { schema: ManifestText } },
};
// A text takes twice its bytes where every character of it is escaped.
const sourceBodyBytes = 2 * maxManifestBytes;
const Destructive = Type.Optional(
  Type.Boolean({
    description:
      'Whether what the manifest no longer holds ends for the installations that have it: reads pause, writes are refused. Without it, they go on as before.',
  }),
);
// Each holds the whole of an integration.
const RevisionsQuery = Type.Object(documentPageQuery({ maximum: 100, default: 20 }), closed);
// The body is empty. `null` would be sent as text.
const Empty = Type.Unsafe<undefined>({ type: 'null', description: 'An empty body.' });
const Warnings = Type.Object(
  { warnings: Type.Array(ManifestIssue) },
  {
    ...closed,
    title: 'RevisionWarnings',
    description: 'Where something was found that does not keep the revision from being made.',
  },
);
const DryRun = Type.Optional(
  Type.Boolean({ description: 'Answer what the deploy would change, and write nothing.' }),
);

/** Integrations, their revisions, and the deploy of a manifest. */
export function integrationRoutes(projects: Projects): (server: HttpServer) => Promise<void> {
  return async (server) => {
    reading(server, projects);
    readingRevisions(server, projects);
    creating(server, projects);
    await server.register(async (taking) => {
      taking.addContentTypeParser(yamlType, readTextBody);
      deploying(taking, projects);
      revising(taking, projects);
    });
  };
}

function reading(server: HttpServer, projects: Projects): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/integrations',
    schema: {
      operationId: 'listIntegrations',
      summary: 'List the integrations with their latest revisions',
      tags: ['integrations'],
      params: ProjectParams,
      querystring: Type.Object(optionalDocumentPageQuery, closed),
      response: { 200: listOrPageOf(Integration) },
    },
    config: { scopes: ['read', 'frontend'] },
    handler: async (request, reply) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      return sendList(reply, await projects.integrations.list(id, request.query));
    },
  });
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/integrations/:integrationIdOrName',
    schema: {
      operationId: 'getIntegration',
      summary: 'Get an integration with its latest revision',
      tags: ['integrations'],
      params: IntegrationParams,
      response: { 200: Integration },
    },
    config: { scopes: ['read', 'frontend'] },
    handler: async (request) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      return presentIntegration(await projects.integrations.get(id, request.params.integrationIdOrName));
    },
  });
}

function readingRevisions(server: HttpServer, projects: Projects): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/integrations/:integrationIdOrName/revisions',
    schema: {
      operationId: 'listRevisions',
      summary: 'List what an integration was, deploy by deploy, newest first',
      tags: ['integrations'],
      params: IntegrationParams,
      querystring: RevisionsQuery,
      response: { 200: pageOf(Revision) },
    },
    config: { scopes: ['read'], projectWide: true },
    handler: async ({ principal, params, query }) => {
      const { id } = projects.resolveProject(principal, params.projectIdOrName);
      const page = await projects.integrations.revisions(id, params.integrationIdOrName, query);
      return { ...page, results: page.results.map(presentRevision) };
    },
  });
}

function creating(server: HttpServer, projects: Projects): void {
  server.route({
    method: 'POST',
    url: '/projects/:projectIdOrName/integrations',
    schema: {
      operationId: 'createIntegration',
      summary: 'Make one integration from JSON',
      tags: ['integrations'],
      params: ProjectParams,
      body: NewIntegration,
      response: { 201: Empty },
    },
    config: { scopes: [], projectWide: true },
    handler: async (request, reply) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      const { specVersion, content } = request.body.latestRevision;
      refuseContradictions(request.body);
      await projects.integrations.create(id, specVersion, content);
      return reply.code(201).send(undefined);
    },
  });
  server.route({
    method: 'DELETE',
    url: '/projects/:projectIdOrName/integrations/:integrationIdOrName',
    schema: {
      operationId: 'deleteIntegration',
      summary: 'Delete an integration and all its installations',
      description: 'The connections of its installations stay.',
      tags: ['integrations'],
      params: IntegrationParams,
      response: { 204: Type.Null() },
    },
    config: { scopes: [], projectWide: true },
    handler: async (request, reply) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      await projects.integrations.delete(id, request.params.integrationIdOrName);
      return reply.code(204).send(null);
    },
  });
}

function deploying(server: HttpServer, projects: Projects): void {
  server.route({
    method: 'PUT',
    // The router reads `::` as a colon.
    url: '/projects/:projectIdOrName/integrations::batch',
    schema: {
      operationId: 'batchUpsertIntegrations',
      summary: 'Deploy a manifest: make or revise each integration it names, and leave the others alone',
      tags: ['integrations'],
      params: ProjectParams,
      querystring: Type.Object({ destructive: Destructive, dryRun: DryRun }, closed),
      body: SourceBody,
      response: { 200: Type.Union([Type.Array(DeployedIntegration), DeployPreview]) },
    },
    config: { scopes: [], projectWide: true },
    bodyLimit: sourceBodyBytes,
    handler: async (request, reply) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      const text = sourceOf(request.body);
      const { destructive = false, dryRun = false } = request.query;
      if (dryRun) return projects.integrations.preview(id, text, { destructive });
      const { integrations, warnings } = await projects.integrations.deploy(id, text, { destructive });
      reply.header('x-svc-warnings', String(warnings.length));
      return integrations.map(presentDeployed);
    },
  });
}

function revising(server: HttpServer, projects: Projects): void {
  server.route({
    method: 'POST',
    url: '/projects/:projectIdOrName/integrations/:integrationIdOrName/revisions',
    schema: {
      operationId: 'createRevision',
      summary: 'Deploy one integration of a manifest',
      tags: ['integrations'],
      params: IntegrationParams,
      querystring: Type.Object({ destructive: Destructive }, closed),
      body: SourceBody,
      response: { 201: Type.Union([Empty, Warnings]) },
    },
    config: { scopes: [], projectWide: true },
    bodyLimit: sourceBodyBytes,
    handler: async (request, reply) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      const text = sourceOf(request.body);
      const { name: only } = await projects.integrations.get(id, request.params.integrationIdOrName);
      const { destructive = false } = request.query;
      const { integrations } = await projects.integrations.deploy(id, text, { destructive, only });
      const warnings = integrations.flatMap((deployed) => deployed.warnings);
      reply.code(201).header('x-svc-warnings', String(warnings.length));
      return reply.send(warnings.length > 0 ? { warnings } : undefined);
    },
  });
}

function refuseContradictions({
  name,
  provider,
  latestRevision: { content },
}: Static<typeof NewIntegration>): void {
  const issues: Issue[] = [];
  if (content.name !== name)
    issues.push({ in: 'body', name: 'name', detail: 'must equal latestRevision.content.name' });
  if (content.provider !== provider) {
    issues.push({ in: 'body', name: 'provider', detail: 'must equal latestRevision.content.provider' });
  }
  if (issues.length > 0) throw refuse(issues);
}

/** `body`: held to {@link SourceBody}, whose types the server does not infer. */
function sourceOf(body: unknown): string {
  if (typeof body === 'string') return body;
  const { sourceYaml, sourceZipUrl } = body as Static<typeof Source>;
  if ((sourceYaml === undefined) === (sourceZipUrl === undefined)) {
    throw refuse([{ in: 'body', name: 'sourceYaml', detail: 'is needed, and nothing beside it' }]);
  }
  if (sourceYaml !== undefined) return sourceYaml;
  throw problem('invalid-request', {
    detail: 'sourceZipUrl: archives are not taken by this service.',
    remedy: 'Send the text of svc.yaml itself in sourceYaml.',
    issues: [{ in: 'body', name: 'sourceZipUrl', detail: 'is not taken by this service; send sourceYaml' }],
  });
}

function presentDeployed({ integration, warnings }: Deployed): Static<typeof DeployedIntegration> {
  return { ...presentIntegration(integration), ...(warnings.length > 0 ? { warnings } : {}) };
}
