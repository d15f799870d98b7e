import { Type } from 'typebox';
import { sendList } from '../../kit/http/list.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { reference, shownName } from '../../kit/reference-schema.ts';
import { listOrPageOf, optionalPageQuery } from '../../kit/paging-schema.ts';
import { listOrPageOfAll } from '../../kit/paging.ts';
import { UpdateMask } from '../../kit/update-mask-schema.ts';
import { readMask } from '../../kit/update-mask.ts';
import { idParam, ProjectParams } from '../path-params.ts';
import { ExpiresAt, refusePast } from './expiry.ts';
import { refuseChange } from './key-changed.ts';
import { refuseGrant } from '../auth/principal.ts';
import type { Projects } from '../projects.ts';
import { ApiKey, Scope, orNull } from '../schema.ts';

const closed = { additionalProperties: false } as const;
const Label = shownName(255);
const Scopes = Type.Array(Scope, { minItems: 1, maxItems: 20 });
const KeyParams = idParam('apiKeyId', 'The id of the key: the part between the first two underscores.');

const NewApiKey = Type.Object(
  {
    label: Label,
    scopes: Type.Optional(
      Type.Array(Scope, { minItems: 1, maxItems: 20, description: 'Only `full` unless given.' }),
    ),
    groupRef: Type.Optional(reference('Confines the key to this group.')),
    expiresAt: Type.Optional(ExpiresAt),
  },
  { ...closed, title: 'CreateApiKeyRequest' },
);
const ApiKeyUpdate = Type.Object(
  {
    updateMask: UpdateMask,
    apiKey: Type.Object(
      {
        active: Type.Optional(Type.Boolean()),
        label: Type.Optional(Label),
        scopes: Type.Optional(Scopes),
        expiresAt: orNull(ExpiresAt),
      },
      closed,
    ),
  },
  { ...closed, title: 'UpdateApiKeyRequest' },
);
const masks = ['active', 'label', 'scopes', 'expiresAt'];

/** API keys: shown once when they are made, afterwards managed by their id. */
export function apiKeyRoutes(projects: Projects): (server: HttpServer) => Promise<void> {
  return async (server) => {
    collection(server, projects);
    single(server, projects);
  };
}

function collection(server: HttpServer, projects: Projects): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/api-keys',
    schema: {
      operationId: 'listApiKeys',
      summary: 'List the API keys, without their secrets',
      tags: ['api keys'],
      params: ProjectParams,
      querystring: Type.Object({ active: Type.Optional(Type.Boolean()), ...optionalPageQuery }, closed),
      response: { 200: listOrPageOf(ApiKey) },
    },
    config: { scopes: ['read'], projectWide: true },
    handler: async (request, reply) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      return sendList(
        reply,
        listOrPageOfAll(request.query, await projects.apiKeys.list(id, request.query.active)),
      );
    },
  });
  server.route({
    method: 'POST',
    url: '/projects/:projectIdOrName/api-keys',
    schema: {
      operationId: 'createApiKey',
      summary: 'Make an API key; its value is shown once',
      tags: ['api keys'],
      params: ProjectParams,
      body: NewApiKey,
      response: { 201: ApiKey },
    },
    config: { scopes: [], projectWide: true },
    handler: async (request, reply) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      const given = { scopes: ['full' as const], ...request.body };
      refusePast('expiresAt', given.expiresAt);
      refuseGrant(request.principal, given.scopes, given.groupRef);
      const created = await projects.apiKeys.create(id, given);
      return reply.code(201).header('cache-control', 'no-store').send(created);
    },
  });
}

function single(server: HttpServer, projects: Projects): void {
  const url = '/projects/:projectIdOrName/api-keys/:apiKeyId';
  server.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'getApiKey',
      summary: 'Get an API key, without its secret',
      tags: ['api keys'],
      params: KeyParams,
      response: { 200: ApiKey },
    },
    config: { scopes: ['read'], projectWide: true },
    handler: async (request) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      return projects.apiKeys.get(id, request.params.apiKeyId);
    },
  });
  server.route({
    method: 'PATCH',
    url,
    schema: {
      operationId: 'updateApiKey',
      summary: 'Change, activate or deactivate an API key',
      tags: ['api keys'],
      params: KeyParams,
      body: ApiKeyUpdate,
      response: { 200: ApiKey },
    },
    config: { scopes: [], projectWide: true },
    handler: async (request) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      const { updateMask, apiKey } = request.body;
      refusePast('apiKey.expiresAt', apiKey.expiresAt);
      const change = Object.fromEntries(readMask(updateMask, masks, apiKey, 'apiKey'));
      const before = await projects.apiKeys.get(id, request.params.apiKeyId);
      refuseChange(request.principal, before, change);
      return projects.apiKeys.update(id, request.params.apiKeyId, change);
    },
  });
  server.route({
    method: 'DELETE',
    url,
    schema: {
      operationId: 'deleteApiKey',
      summary: 'Delete an API key',
      tags: ['api keys'],
      params: KeyParams,
      response: { 204: Type.Null() },
    },
    config: { scopes: [], projectWide: true },
    handler: async (request, reply) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      const { apiKeyId } = request.params;
      refuseGrant(request.principal, [], undefined, (await projects.apiKeys.get(id, apiKeyId)).scopes);
      await projects.apiKeys.delete(id, apiKeyId);
      return reply.code(204).send(null);
    },
  });
}
