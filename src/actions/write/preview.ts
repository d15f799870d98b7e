import { Type } from 'typebox';
import { proposal } from '../../installations/schema.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { planWrite } from './prepare/plan.ts';
import { scopeOf } from './prepare/scope.ts';
import { RecordFields, WritePlanned } from './schema.ts';
import { dryRun } from './send/dry-run.ts';
import type { WriteDeps } from './writes.ts';

const WritePreviewRequest = Type.Object(
  {
    ...proposal,
    type: Type.Enum(['create', 'update']),
    record: RecordFields,
  },
  { additionalProperties: false, title: 'WritePreviewRequest' },
);
const params = Type.Object({
  projectIdOrName: Type.String({ description: 'Project id or name.' }),
  integrationId: Type.String({ description: 'Integration id or name.' }),
  objectName: Type.String({ description: "The provider's name of the object." }),
});

/** `POST /v1/projects/{p}/integrations/{i}/objects/{o}/write-preview`: the dry run of a write by a config that nobody saved. */
export function writePreviewRoutes({
  ground,
  installations,
}: Pick<WriteDeps, 'ground' | 'installations'>): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'POST',
      url: '/projects/:projectIdOrName/integrations/:integrationId/objects/:objectName/write-preview',
      schema: {
        operationId: 'previewWrite',
        summary: 'Show what a write would send by a config',
        description:
          'The plan of a record after defaults, field settings and mappings of a config that is not saved, and the calls that it would make. Nothing is sent, and the provider is not asked.',
        tags: ['write'],
        params,
        body: WritePreviewRequest,
        response: { 200: WritePlanned },
      },
      config: { scopes: ['write', 'frontend'] },
      handler: async ({ principal, params: { objectName, ...place }, body }) => {
        const { groupRef, type, record } = body;
        const target = await installations.propose(principal, place, body);
        const planned = planWrite({ groupRef, type, record }, scopeOf(target, objectName, ground.limits));
        if ('refusal' in planned) throw planned.refusal;
        return { plan: dryRun(planned.plan, target.provider) };
      },
    });
  };
}
