import { Type } from 'typebox';
import { sendList } from '../../kit/http/list.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { listOrPageOf, optionalPageQuery } from '../../kit/paging-schema.ts';
import { listOrPageOfAll } from '../../kit/paging.ts';
import { UpdateMask } from '../../kit/update-mask-schema.ts';
import { readMask } from '../../kit/update-mask.ts';
import { idParam, ProjectParams } from '../path-params.ts';
import type { Projects } from '../projects.ts';
import { ProviderApp, ProviderAppMetadata } from '../schema.ts';

const closed = { additionalProperties: false } as const;
const text = (description: string) => Type.String({ minLength: 1, maxLength: 4096, description });
const AppParams = idParam('providerAppId', 'The id of the provider app.');

const required = {
  provider: text('A key of the catalogue.'),
  clientId: text('From the provider.'),
  clientSecret: text('From the provider; kept encrypted and never shown.'),
};
const optional = {
  externalRef: Type.Optional(text("The provider's own id of the app.")),
  scopes: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
      maxItems: 500,
      description: 'Required for HubSpot.',
    }),
  ),
  metadata: Type.Optional(ProviderAppMetadata),
  isDefault: Type.Optional(
    Type.Literal(true, {
      description:
        'Makes it the app of its provider for whoever names none. The first app is; another one only when told so.',
    }),
  ),
};
const NewProviderApp = Type.Object(
  { ...required, ...optional },
  { ...closed, title: 'CreateProviderAppRequest' },
);
const ProviderAppUpdate = Type.Object(
  {
    updateMask: UpdateMask,
    providerApp: Type.Object(
      {
        provider: Type.Optional(required.provider),
        clientId: Type.Optional(required.clientId),
        clientSecret: Type.Optional(required.clientSecret),
        ...optional,
      },
      closed,
    ),
  },
  { ...closed, title: 'UpdateProviderAppRequest' },
);
const masks = ['externalRef', 'clientId', 'clientSecret', 'provider', 'scopes', 'metadata', 'isDefault'];

/** The builder's OAuth clients at the providers. */
export function providerAppRoutes(projects: Projects): (server: HttpServer) => Promise<void> {
  return async (server) => {
    collection(server, projects);
    single(server, projects);
  };
}

function collection(server: HttpServer, projects: Projects): void {
  const url = '/projects/:projectIdOrName/provider-apps';
  server.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'listProviderApps',
      summary: 'List the provider apps, without their secrets',
      tags: ['provider apps'],
      params: ProjectParams,
      querystring: Type.Object(optionalPageQuery, closed),
      response: { 200: listOrPageOf(ProviderApp) },
    },
    config: { scopes: ['read', 'frontend'] },
    handler: async (request, reply) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      return sendList(reply, listOrPageOfAll(request.query, await projects.providerApps.list(id)));
    },
  });
  server.route({
    method: 'POST',
    url,
    schema: {
      operationId: 'createProviderApp',
      summary: 'Register an OAuth client; the first of a provider is its default',
      tags: ['provider apps'],
      params: ProjectParams,
      body: NewProviderApp,
      response: { 200: ProviderApp },
    },
    config: { scopes: [], projectWide: true },
    handler: async (request) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      return projects.providerApps.create(id, request.body);
    },
  });
}

function single(server: HttpServer, projects: Projects): void {
  const url = '/projects/:projectIdOrName/provider-apps/:providerAppId';
  server.route({
    method: 'PATCH',
    url,
    schema: {
      operationId: 'updateProviderApp',
      summary: 'Change a provider app',
      tags: ['provider apps'],
      params: AppParams,
      body: ProviderAppUpdate,
      response: { 200: ProviderApp },
    },
    config: { scopes: [], projectWide: true },
    handler: async (request) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      const { updateMask, providerApp } = request.body;
      const change = Object.fromEntries(readMask(updateMask, masks, providerApp, 'providerApp'));
      return projects.providerApps.update(id, request.params.providerAppId, change);
    },
  });
  server.route({
    method: 'DELETE',
    url,
    schema: {
      operationId: 'deleteProviderApp',
      summary: 'Delete a provider app; after the default, the oldest of the provider is it',
      description:
        'Accounts that were connected by it have to be connected again: their tokens cannot be renewed any more.',
      tags: ['provider apps'],
      params: AppParams,
      response: { 204: Type.Null() },
    },
    config: { scopes: [], projectWide: true },
    handler: async (request, reply) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      await projects.providerApps.delete(id, request.params.providerAppId);
      return reply.code(204).send(null);
    },
  });
}
