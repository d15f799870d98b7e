import { setImmediate as nextTurn } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  problemBody,
  sendProblem,
  sendProblemBody,
  toProblem,
  type HttpServer,
} from '../../kit/http/server.ts';
import type { KeyClaim } from '../../operations/index.ts';
import type { Principal } from '../../projects/index.ts';
import { decideFor, refuseDead } from '../target.ts';
import { answerWrite, withErrors } from './answer.ts';
import { dryRun } from './dry-run.ts';
import { answeringOnce, claimOf, rendered, replay, replayInstead, type WriteAnswer } from './idempotency.ts';
import { enqueueWrite, performWrite, type WriteDeps } from './perform.ts';
import { planWrite } from './plan.ts';
import { WriteRequest, WriteResponse, writeFailures } from './schema.ts';
import { scopeOf } from './scope.ts';

const params = Type.Object({
  projectIdOrName: Type.String(),
  integrationId: Type.String(),
  objectName: Type.String(),
});

const headers = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      // 1 to 255 visible ASCII characters.
      pattern: '^[!-~]{1,255}$',
      description:
        'The same request with the same key is done once, also after a lost answer; kept for 7 days, per API key. A repetition gets the first answer with the header `Idempotent-Replayed: true`. A dry run ignores it.',
    }),
  ),
});

/** `POST {write_url}/projects/{p}/integrations/{i}/objects/{o}` (§4.2). */
export function writeRoutes(deps: WriteDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.setErrorHandler((error, request, reply) => {
      const refusal = toProblem(error);
      return sendProblem(request, reply, refusal, withErrors(problemBody(request, refusal)));
    });
    server.route({
      method: 'POST',
      url: '/projects/:projectIdOrName/integrations/:integrationId/objects/:objectName',
      schema: {
        operationId: 'writeRecords',
        summary: 'Create, update or delete records in the customer’s SaaS',
        tags: ['write'],
        params,
        headers,
        body: WriteRequest,
        response: { 200: WriteResponse, ...writeFailures },
      },
      config: { scopes: ['write'], bodyValues: 50_000 },
      bodyLimit: deps.ground.limits.bodyBytes,
      handler: async (request, reply) => {
        const { principal, body, id } = request;
        const claim = body.dryRun ? undefined : claimOf(request);
        const answer = await write(deps, request, claim).catch((refusal: unknown) =>
          replayInstead(deps.operations, principal.projectId, claim, refusal, id),
        );
        return send(request, reply, answer);
      },
    });
  };
}

interface ReceivedWrite {
  id: string;
  principal: Principal;
  params: { projectIdOrName: string; integrationId: string; objectName: string };
  body: WriteRequest;
  isLarge?: true;
  about?: Record<string, unknown>;
}

async function write(
  deps: WriteDeps,
  request: ReceivedWrite,
  claim: KeyClaim | undefined,
): Promise<WriteAnswer> {
  const { id, principal, body, isLarge } = request;
  const { objectName, ...address } = request.params;
  const named = { ...address, groupRef: body.groupRef };
  const { target, plan } = await decideFor(deps, principal, named, (found) => {
    const { groupRef, connectionId, installationId } = found;
    request.about = { groupRef, connectionId, installationId, object: objectName };
    const planned = planWrite(body, scopeOf(found, objectName, deps.ground.limits));
    if ('refusal' in planned) throw planned.refusal;
    if (!body.dryRun) refuseDead(found);
    return { target: found, plan: planned.plan };
  });
  if (body.dryRun) return { status: 200, body: { plan: dryRun(plan, target.provider) } };
  if (isLarge) await nextTurn();
  if (plan.mode === 'asynchronous') {
    const { operationId, ...others } = await enqueueWrite(deps, target, plan, claim);
    return { status: 200, body: { operationId }, ...others };
  }
  const answerOf = answeringOnce((operationId, outcomes) =>
    rendered(answerWrite(plan, operationId, outcomes), id),
  );
  const { operationId, outcomes, earlier } = await performWrite(deps, target, plan, claim, answerOf);
  return earlier ? replay(deps.operations, target.projectId, earlier, id) : answerOf(operationId, outcomes);
}

function send(request: FastifyRequest, reply: FastifyReply, answer: WriteAnswer): FastifyReply {
  if (answer.replayed) reply.header('idempotent-replayed', 'true');
  const { operationId, code } = answer.body as { operationId?: string; code?: string };
  request.about = { ...request.about, operationId, problem: code };
  if (answer.problem) return sendProblem(request, reply, answer.problem, answer.body);
  const isProblem = answer.status !== 200 && code !== undefined;
  return isProblem
    ? sendProblemBody(reply, answer.status, answer.body)
    : reply.code(answer.status).send(answer.body);
}
