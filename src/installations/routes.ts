import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { sendList } from '../kit/http/list.ts';
import type { HttpServer } from '../kit/http/server.ts';
import { documentPageQuery, listOrPageOf, optionalDocumentPageQuery, pageOf } from '../kit/paging-schema.ts';
import type { Installations } from './installations.ts';
import { metadataRoutes } from './metadata/routes.ts';
import {
  Config,
  CreateInstallationRequest,
  Installation,
  PatchObjectRequest,
  UpdateInstallationRequest,
} from './schema.ts';

const closed = { additionalProperties: false } as const;
const project = { projectIdOrName: Type.String({ description: 'Project id or name.' }) };
const integration = { ...project, integrationId: Type.String({ description: 'Integration id or name.' }) };
const installation = { ...integration, installationId: Type.String({ description: 'Installation id.' }) };
const ofProject = { ...project, installationId: installation.installationId };
const configsQuery = Type.Object(documentPageQuery({ maximum: 100, default: 20 }), closed);
const listed = Type.Object(
  {
    groupRef: Type.Optional(Type.String({ description: 'Only of this group.' })),
    healthStatus: Type.Optional(Installation.properties.healthStatus),
    ...optionalDocumentPageQuery,
  },
  closed,
);
const saving = Type.Object(
  {
    skipSampling: Type.Boolean({
      default: false,
      description: 'When true, the provider is not asked whether the objects and fields exist.',
    }),
  },
  closed,
);
const updating = Type.Object(
  {
    ...saving.properties,
    ifConfigId: Type.Optional(
      Type.String({
        maxLength: 255,
        description:
          'The id of the config that the change was made on: answered by config-changed when the installation has another one.',
      }),
    ),
  },
  closed,
);
const base = '/projects/:projectIdOrName/integrations/:integrationId';
const tags = ['installations'];
const reading = { scopes: ['read', 'frontend'] } as const;
const configuring = { scopes: ['frontend'] } as const;

// Deprecated from the first release on (§2.2, §2.5); RFC 9745 wants the second of the epoch.
const deprecation = `@${Date.UTC(2025, 0, 1) / 1000}`;

/** The routes of installations and of what is known of their objects, below `/v1`. */
export function installationRoutes(installations: Installations): (server: HttpServer) => Promise<void> {
  return async (server) => {
    listRoutes(server, installations);
    createRoute(server, installations);
    changeRoutes(server, installations);
    oneRoutes(server, installations);
    pastRoutes(server, installations);
    metadataRoutes(server, installations);
  };
}

function listRoutes(server: HttpServer, installations: Installations): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/installations',
    schema: {
      operationId: 'listInstallationsForProject',
      summary: 'List the installations of a project, newest first',
      tags,
      params: Type.Object(project, closed),
      querystring: listed,
      response: { 200: listOrPageOf(Installation) },
    },
    config: { scopes: [...reading.scopes] },
    handler: async ({ principal, params, query }, reply) =>
      sendList(reply, await installations.listAll(principal, params.projectIdOrName, query)),
  });
  server.route({
    method: 'GET',
    url: `${base}/installations`,
    schema: {
      operationId: 'listInstallations',
      summary: 'List the installations of an integration, newest first',
      tags,
      params: Type.Object(integration, closed),
      querystring: listed,
      response: { 200: listOrPageOf(Installation) },
    },
    config: { scopes: [...reading.scopes] },
    handler: async ({ principal, params, query }, reply) =>
      sendList(reply, await installations.list(principal, params, query)),
  });
}

function createRoute(server: HttpServer, installations: Installations): void {
  server.route({
    method: 'POST',
    url: `${base}/installations`,
    schema: {
      operationId: 'createInstallation',
      summary: 'Install an integration for a group',
      description:
        'The group must have a connection to the provider. The config is checked whole; unless `skipSampling`, the provider is asked whether the named fields exist, and one record of each scheduled object is read.',
      tags,
      params: Type.Object(integration, closed),
      querystring: saving,
      body: CreateInstallationRequest,
      response: { 201: Installation },
    },
    config: { scopes: [...configuring.scopes] },
    handler: async ({ principal, params, query, body }, reply) => {
      const made = await installations.create(principal, params, body, query);
      warnOfDeprecated(reply, made, body.config);
      return reply.code(201).send(made);
    },
  });
}

function changeRoutes(server: HttpServer, installations: Installations): void {
  server.route({
    method: 'PATCH',
    url: `${base}/installations/:installationId`,
    schema: {
      operationId: 'updateInstallation',
      summary: 'Change an installation',
      description:
        'What `updateMask` names is replaced by what `installation` holds there. A mask on an object replaces its whole config: what is left out is gone.',
      tags,
      params: Type.Object(installation, closed),
      querystring: updating,
      body: UpdateInstallationRequest,
      response: { 200: Installation },
    },
    config: { scopes: [...configuring.scopes] },
    handler: async ({ principal, params, query, body }, reply) => {
      const changed = await installations.update(principal, params, body, query);
      warnOfDeprecated(reply, changed, body.installation.config);
      return changed;
    },
  });
  server.route({
    method: 'PATCH',
    url: `${base}/objects/:objectName/config-content`,
    schema: {
      operationId: 'patchObjectConfigContent',
      summary: "Change one object's config by JSON Patch",
      description: 'The changes are applied together or not at all. Paths start at the config of the object.',
      tags,
      params: Type.Object({ ...integration, objectName: Type.String() }, closed),
      querystring: saving,
      body: PatchObjectRequest,
      response: { 200: Installation },
    },
    config: { scopes: [...configuring.scopes] },
    handler: async ({ principal, params, query, body }, reply) => {
      const changed = await installations.patchObject(principal, params, body, query);
      warnOfDeprecated(reply, changed);
      return changed;
    },
  });
}

function pastRoutes(server: HttpServer, installations: Installations): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/installations/:installationId',
    schema: {
      operationId: 'getInstallationForProject',
      summary: 'Get an installation by its id alone',
      tags,
      params: Type.Object(ofProject, closed),
      response: { 200: Installation },
    },
    config: { scopes: [...reading.scopes] },
    handler: ({ principal, params }) =>
      installations.getOfProject(principal, params.projectIdOrName, params.installationId),
  });
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/installations/:installationId/configs',
    schema: {
      operationId: 'listConfigs',
      summary: 'List what an installation was configured to, newest first',
      description:
        'The first is in force. To restore one, send its `content` to updateInstallation with the mask `config.content`.',
      tags,
      params: Type.Object(ofProject, closed),
      querystring: configsQuery,
      response: { 200: pageOf(Config) },
    },
    config: { scopes: [...reading.scopes] },
    handler: ({ principal, params, query }) => installations.configs(principal, params, query),
  });
}

function oneRoutes(server: HttpServer, installations: Installations): void {
  server.route({
    method: 'GET',
    url: `${base}/installations/:installationId`,
    schema: {
      operationId: 'getInstallation',
      summary: 'Get an installation',
      tags,
      params: Type.Object(installation, closed),
      response: { 200: Installation },
    },
    config: { scopes: [...reading.scopes] },
    handler: ({ principal, params }) => installations.get(principal, params, params.installationId),
  });
  server.route({
    method: 'DELETE',
    url: `${base}/installations/:installationId`,
    schema: {
      operationId: 'deleteInstallation',
      summary: 'Delete an installation',
      description:
        'Its connection goes, too, unless another installation uses it; with a front-end token only if it is of that consumer.',
      tags,
      params: Type.Object(installation, closed),
      response: { 204: Type.Null() },
    },
    config: { scopes: [...configuring.scopes] },
    handler: async ({ principal, params }, reply) => {
      await installations.delete(principal, params, params.installationId);
      return reply.code(204).send(null);
    },
  });
}

/** Sets the Deprecation header when the request or its config uses a deprecated field (docs/contract.md, Compatibility). */
function warnOfDeprecated(
  reply: FastifyReply,
  { config }: Installation,
  request?: { revisionId?: string },
): void {
  const objects = Object.values(config.content.write?.objects ?? {});
  const isUsed =
    request?.revisionId !== undefined || objects.some((object) => object.selectedValueDefaults !== undefined);
  if (isUsed) reply.header('deprecation', deprecation);
}
