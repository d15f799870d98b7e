import { Type } from 'typebox';
import { sendList } from '../../kit/http/list.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { shownName } from '../../kit/reference-schema.ts';
import { listOrPageOf, optionalPageQuery } from '../../kit/paging-schema.ts';
import { listOrPageOfAll } from '../../kit/paging.ts';
import { UpdateMask } from '../../kit/update-mask-schema.ts';
import { readMask } from '../../kit/update-mask.ts';
import { idParam, ProjectParams } from '../path-params.ts';
import { ExpiresAt, refusePast } from './expiry.ts';
import type { Projects } from '../projects.ts';
import { JwtKey, orNull } from '../schema.ts';

const closed = { additionalProperties: false } as const;
const Label = shownName(255);
const KeyParams = idParam('jwtKeyId', 'The id of the key, sent as `kid` in each token.');

const issuer = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'When given, the claim `iss` of each token must be this.',
});
const audience = Type.String({
  minLength: 1,
  maxLength: 255,
  description: 'When given, the claim `aud` of each token must name this.',
});

const NewJwtKey = Type.Object(
  {
    label: Label,
    algorithm: Type.Literal('RS256'),
    publicKeyPem: Type.String({
      minLength: 1,
      maxLength: 10_000,
      description: 'An RSA public key of 2048 bits or more.',
    }),
    issuer: Type.Optional(issuer),
    audience: Type.Optional(audience),
    expiresAt: Type.Optional(ExpiresAt),
  },
  { ...closed, title: 'CreateJwtKeyRequest' },
);
const JwtKeyUpdate = Type.Object(
  {
    updateMask: UpdateMask,
    jwtKey: Type.Object(
      {
        active: Type.Optional(Type.Boolean()),
        label: Type.Optional(Label),
        issuer: orNull(issuer),
        audience: orNull(audience),
        expiresAt: orNull(ExpiresAt),
      },
      closed,
    ),
  },
  { ...closed, title: 'UpdateJwtKeyRequest' },
);
const CreatedJwtKey = Type.Object({ kid: Type.String() }, { ...closed, title: 'CreatedJwtKey' });
const masks = ['active', 'label', 'issuer', 'audience', 'expiresAt'];

/** Public keys that check the tokens of end users' browsers. */
export function jwtKeyRoutes(projects: Projects): (server: HttpServer) => Promise<void> {
  return async (server) => {
    collection(server, projects);
    single(server, projects);
  };
}

function collection(server: HttpServer, projects: Projects): void {
  server.route({
    method: 'POST',
    url: '/projects/:projectIdOrName/jwt-keys',
    schema: {
      operationId: 'createJWTKey',
      summary: 'Register a public key for front-end tokens',
      tags: ['jwt keys'],
      params: ProjectParams,
      body: NewJwtKey,
      response: { 201: CreatedJwtKey },
    },
    config: { scopes: [], projectWide: true },
    handler: async (request, reply) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      refusePast('expiresAt', request.body.expiresAt);
      return reply.code(201).send(await projects.jwtKeys.create(id, request.body));
    },
  });
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/jwt-keys',
    schema: {
      operationId: 'listJWTKeys',
      summary: 'List the public keys for front-end tokens',
      tags: ['jwt keys'],
      params: ProjectParams,
      querystring: Type.Object(
        {
          active: Type.Optional(Type.Boolean({ description: 'Only the active ones.' })),
          ...optionalPageQuery,
        },
        closed,
      ),
      response: { 200: listOrPageOf(JwtKey) },
    },
    config: { scopes: ['read'], projectWide: true },
    handler: async (request, reply) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      const { active = false, ...page } = request.query;
      return sendList(reply, listOrPageOfAll(page, await projects.jwtKeys.list(id, active)));
    },
  });
}

function single(server: HttpServer, projects: Projects): void {
  const url = '/projects/:projectIdOrName/jwt-keys/:jwtKeyId';
  server.route({
    method: 'GET',
    url,
    schema: {
      operationId: 'getJWTKey',
      summary: 'Get a public key',
      tags: ['jwt keys'],
      params: KeyParams,
      response: { 200: JwtKey },
    },
    config: { scopes: ['read'], projectWide: true },
    handler: async (request) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      return projects.jwtKeys.get(id, request.params.jwtKeyId);
    },
  });
  server.route({
    method: 'PATCH',
    url,
    schema: {
      operationId: 'updateJWTKey',
      summary: 'Change, activate or deactivate a public key',
      tags: ['jwt keys'],
      params: KeyParams,
      body: JwtKeyUpdate,
      response: { 200: JwtKey },
    },
    config: { scopes: [], projectWide: true },
    handler: async (request) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      const { updateMask, jwtKey } = request.body;
      refusePast('jwtKey.expiresAt', jwtKey.expiresAt);
      const change = Object.fromEntries(readMask(updateMask, masks, jwtKey, 'jwtKey'));
      return projects.jwtKeys.update(id, request.params.jwtKeyId, change);
    },
  });
  server.route({
    method: 'DELETE',
    url,
    schema: {
      operationId: 'deleteJWTKey',
      summary: 'Delete a public key',
      tags: ['jwt keys'],
      params: KeyParams,
      response: { 204: Type.Null() },
    },
    config: { scopes: [], projectWide: true },
    handler: async (request, reply) => {
      const { id } = projects.resolveProject(request.principal, request.params.projectIdOrName);
      await projects.jwtKeys.delete(id, request.params.jwtKeyId);
      return reply.code(204).send(null);
    },
  });
}
