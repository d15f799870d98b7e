import { Type } from 'typebox';
import type { HttpServer } from '../../kit/http/server.ts';
import type { Installations } from '../installations.ts';
import { HydratedRevision, ObjectMetadata } from './schema.ts';

const closed = { additionalProperties: false } as const;
const project = { projectIdOrName: Type.String({ description: 'Project id or name.' }) };
const integration = { ...project, integrationId: Type.String({ description: 'Integration id or name.' }) };
const objectName = Type.String({
  description: "The provider's name of the object, or the integration's `mapToName`.",
});
const question = Type.Object(
  {
    groupRef: Type.String({
      minLength: 1,
      description: 'The group in whose account the object is looked at.',
    }),
    excludeReadOnly: Type.Boolean({
      default: false,
      description: 'Leaves away the fields that cannot be written.',
    }),
  },
  closed,
);
const tags = ['object metadata'];

/** Objects and fields of the customer's account, for choosing and mapping fields. */
export function metadataRoutes(server: HttpServer, installations: Installations): void {
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/integrations/:integrationId/objects/:objectName/metadata',
    schema: {
      operationId: 'getObjectMetadataForInstallation',
      summary: 'Get the fields of an object of an integration',
      tags,
      params: Type.Object({ ...integration, objectName }, closed),
      querystring: question,
      response: { 200: ObjectMetadata },
    },
    config: { scopes: ['read', 'frontend'] },
    handler: ({ principal, params, query }) =>
      installations.describeForIntegration(principal, params, { ...query, objectName: params.objectName }),
  });
  server.route({
    method: 'GET',
    url: '/projects/:projectIdOrName/providers/:provider/objects/:objectName/metadata',
    schema: {
      operationId: 'getObjectMetadataForConnection',
      summary: 'Get the fields of an object of a provider',
      tags,
      params: Type.Object({ ...project, provider: Type.String(), objectName: Type.String() }, closed),
      querystring: question,
      response: { 200: ObjectMetadata },
    },
    config: { scopes: ['read', 'frontend'] },
    handler: ({ principal, params, query }) =>
      installations.describeForProvider(principal, params, { ...query, objectName: params.objectName }),
  });
  server.route({
    method: 'GET',
    // The expression ends the parameter before the colon of the verb.
    url: '/projects/:projectIdOrName/integrations/:integrationId/revisions/:revisionId(^[^:]+)::hydrate',
    schema: {
      operationId: 'getHydratedRevision',
      summary: "Get a revision with the live metadata of a connection's account",
      description: 'An object that cannot be described carries an `error`; the others have their metadata.',
      tags,
      params: Type.Object({ ...integration, revisionId: Type.String() }, closed),
      querystring: Type.Object({ connectionId: Type.String({ minLength: 1 }) }, closed),
      response: { 200: HydratedRevision },
    },
    config: { scopes: ['read', 'frontend'] },
    handler: ({ principal, params, query }) => installations.hydrate(principal, params, query.connectionId),
  });
}
