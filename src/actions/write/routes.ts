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
import { acceptQueued } from './accept/accept.ts';
import { answerWrite, warningsOf, withErrors } from './answer.ts';
import { dryRun } from './send/dry-run.ts';
import {
  answeringOnce,
  claimOf,
  rendered,
  replay,
  replayInstead,
  type WriteAnswer,
} from './accept/idempotency.ts';
import { intakeOf, prepareWrite, type ReceivedWrite } from './prepare/prepare.ts';
import { WriteRequest, WriteResponse, writeFailures } from './schema.ts';
import { readyToSend } from './send/send.ts';
import type { WriteDeps } from './writes.ts';

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
        const answer = await write(deps, request, claim, id).catch((refusal: unknown) =>
          replayInstead(deps.operations, principal.projectId, claim, refusal, id),
        );
        return answerWith(request, reply, answer);
      },
    });
  };
}

async function write(
  deps: WriteDeps,
  request: ReceivedWrite,
  claim: KeyClaim | undefined,
  requestId: string,
): Promise<WriteAnswer> {
  const prepared = await prepareWrite(deps, request);
  const { target, plan } = prepared;
  if (request.body.dryRun)
    return { status: 200, body: { plan: dryRun(plan, target.provider), ...warningsOf(plan) } };
  if (plan.mode === 'asynchronous') {
    const { operationId, ...others } = await acceptQueued(deps, prepared, claim);
    return { status: 200, body: { operationId, ...warningsOf(plan) }, ...others };
  }
  const answerOf = answeringOnce((operationId, outcomes) =>
    rendered(answerWrite(plan, operationId, outcomes), requestId),
  );
  const send = await readyToSend(deps, prepared);
  const { operationId, outcomes, earlier } = await deps.writes.perform(
    intakeOf(prepared, claim),
    send,
    answerOf,
  );
  return earlier
    ? replay(deps.operations, target.projectId, earlier, requestId)
    : answerOf(operationId, outcomes);
}

function answerWith(request: FastifyRequest, reply: FastifyReply, answer: WriteAnswer): FastifyReply {
  if (answer.replayed) reply.header('idempotent-replayed', 'true');
  const { operationId, code } = answer.body as { operationId?: string; code?: string };
  request.about = { ...request.about, operationId, problem: code };
  if (answer.problem) return sendProblem(request, reply, answer.problem, answer.body);
  const isProblem = answer.status !== 200 && code !== undefined;
  return isProblem
    ? sendProblemBody(reply, answer.status, answer.body)
    : reply.code(answer.status).send(answer.body);
}
