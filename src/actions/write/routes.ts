import { Type } from 'typebox';
import type { HttpServer } from '../../kit/http/server.ts';
import { problem } from '../../kit/problem.ts';
import type { Target } from '../../installations/index.ts';
import { resolveTarget } from '../target.ts';
import { answerWrite } from './answer.ts';
import { dryRun } from './dry-run.ts';
import { enqueueWrite, performWrite, type WriteDeps } from './perform.ts';
import { planWrite, type WritePlan } from './plan.ts';
import { WriteRequest, WriteResponse } from './schema.ts';
import { scopeOf } from './scope.ts';

const params = Type.Object({
  projectIdOrName: Type.String(),
  integrationId: Type.String(),
  objectName: Type.String(),
});

/** `POST {write_url}/projects/{p}/integrations/{i}/objects/{o}` (specification 4.2). */
export function writeRoutes(deps: WriteDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'POST',
      url: '/projects/:projectIdOrName/integrations/:integrationId/objects/:objectName',
      schema: {
        operationId: 'writeRecords',
        summary: 'Create, update or delete records in the customer’s SaaS',
        tags: ['write'],
        params,
        body: WriteRequest,
        response: {
          200: WriteResponse,
          422: Type.Unknown({ description: 'The provider refused, or a problem.' }),
        },
      },
      config: { scopes: ['write'] },
      handler: async (request, reply) => {
        const { objectName, ...address } = request.params;
        const target = await resolveTarget(deps, request.principal, {
          ...address,
          groupRef: request.body.groupRef,
        });
        const planned = planWrite(request.body, scopeOf(target, objectName, deps.ground.limits));
        if ('refusal' in planned) throw planned.refusal;
        const { plan } = planned;
        if (request.body.dryRun) return { plan: dryRun(plan, target.provider) };
        refuseDead(target);
        if (plan.mode === 'asynchronous') return { operationId: await enqueueWrite(deps, target, plan) };
        const answer = await writeNow(deps, target, plan);
        if ('problem' in answer) throw answer.problem;
        return reply.code(answer.status).send(answer.body);
      },
    });
  };
}

async function writeNow(
  deps: WriteDeps,
  target: Target,
  plan: WritePlan,
): Promise<ReturnType<typeof answerWrite>> {
  const { operationId, outcomes } = await performWrite(deps, target, plan);
  return answerWrite(plan, operationId, outcomes);
}

function refuseDead(target: Target): void {
  if (target.connectionStatus === undefined) {
    throw problem('no-usable-connection', {
      detail: `The connection of the group ${target.groupRef} was deleted.`,
    });
  }
  if (target.connectionStatus === 'bad_credentials') {
    throw problem('connection-bad-credentials', {
      detail: `The credentials of the group ${target.groupRef} no longer work.`,
    });
  }
}
