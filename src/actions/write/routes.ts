import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  problemBody,
  sendProblem,
  sendProblemBody,
  toProblem,
  type HttpServer,
} from '../../kit/http/server.ts';
import type { EarlierUse, WrittenOperation } from '../../operations/index.ts';
import { acceptQueued } from './accept/accept.ts';
import { repeatableOf, repetitionOf, type Repetition } from './accept/again.ts';
import { answerWrite, warningsOf, withErrors } from './answer.ts';
import { dryRun } from './send/dry-run.ts';
import {
  answeringOnce,
  keyedBy,
  rendered,
  replay,
  replayInstead,
  type Asking,
  type Keyed,
  type WriteAnswer,
} from './accept/idempotency.ts';
import { modeOf } from './prepare/mode.ts';
import { intakeOf, prepareWrite, type PreparedWrite, type ReceivedWrite } from './prepare/prepare.ts';
import { outcomesTold } from './record/settle.ts';
import { accept, planFor, refuseElsewhere, type AskedAgain } from './retry.ts';
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
        'The same request with the same key is done once, also after a lost answer; kept for 7 days, per API key. A repetition gets the first answer with the header `Idempotent-Replayed: true`, or, once a record of unknown outcome was resolved, what is known now. A dry run ignores it.',
    }),
  ),
  'retry-failed': Type.Optional(
    Type.Enum(['true'], {
      description:
        'Beside an `Idempotency-Key`: where the key stands for a write that failed, and nothing of it was done or may have been, or it is an update or a delete of unknown outcome that is `retryable`, it is written again, in an operation that stands in place of the failed one (`retryOf`). Otherwise the first answer is the answer.',
    }),
  ),
});

/** `POST {write_url}/projects/{p}/integrations/{i}/objects/{o}` (§4.2). */
export function writeRoutes(deps: WriteDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.setErrorHandler((error, request, reply) => {
      const refusal = toProblem(error, request);
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
      config: { scopes: ['write'], bodyValues: 50_000, tellsDoubt: true },
      bodyLimit: deps.ground.limits.bodyBytes,
      handler: async (request, reply) => {
        const { principal, body, id } = request;
        const keyed = body.dryRun ? unkeyed : keyedBy(request);
        const asking = { requestId: id, mode: modeOf(body) };
        const answer = await write(deps, request, keyed, asking).catch((refusal: unknown) =>
          replayInstead(deps.operations, principal.projectId, keyed, refusal, asking),
        );
        return answerWith(request, reply, answer);
      },
    });
  };
}

const unkeyed: Keyed = { retriesFailed: false };

async function write(
  deps: WriteDeps,
  request: ReceivedWrite,
  { claim, retriesFailed }: Keyed,
  asking: Asking,
): Promise<WriteAnswer> {
  const prepared = await prepareWrite(deps, request);
  const { target, plan, description } = prepared;
  if (request.body.dryRun)
    return { status: 200, body: { plan: dryRun(plan, target.provider, description), ...warningsOf(plan) } };
  let at: Partial<Repetition> = { claim };
  for (;;) {
    const given = await perform(deps, prepared, at, asking);
    // Only a key that is known stands for a write that failed, perhaps since it was looked at last.
    const mayStandForFailed =
      'earlier' in given
        ? given.earlier.ended && (retriesFailed || !given.earlier.answer)
        : retriesFailed && given.replayed === true;
    const next: Partial<Repetition> =
      at.claim && mayStandForFailed
        ? await repetitionOf(deps.operations, target.projectId, at.claim, retriesFailed)
        : at;
    if (next.claim === at.claim)
      return 'earlier' in given ? replay(deps.operations, target.projectId, given.earlier, asking) : given;
    at = next;
  }
}

/** Accepts it, and sends what is synchronous. `earlier`: the key stands for this, which was not answered asynchronously. */
async function perform(
  deps: WriteDeps,
  prepared: PreparedWrite,
  { claim, retryOf }: Partial<Repetition>,
  { requestId }: Asking,
): Promise<WriteAnswer | { earlier: EarlierUse }> {
  const { plan } = prepared;
  if (plan.mode === 'asynchronous') {
    // Of a batch that gathered, the records of others are written again with it.
    if (retryOf) return acceptAgain(deps, retryOf, { requestId, deadlineHours: plan.deadlineSeconds / 3600 });
    const { operationId, replayed } = await acceptQueued(deps, prepared, { requestId, key: claim });
    const body = { operationId, ...warningsOf(plan) };
    return replayed ? { status: 200, body, replayed } : { status: 200, body };
  }
  if (retryOf) await refuseElsewhere(deps, retryOf, prepared.target);
  const answerOf = answeringOnce((operationId, outcomes) =>
    rendered(answerWrite(plan, operationId, outcomes), requestId),
  );
  const send = await readyToSend(deps, prepared, requestId);
  const { operationId, outcomes, recorded, earlier } = await deps.writes.perform(
    intakeOf(prepared, { requestId, key: claim, retryOf: retryOf?.operation.id }),
    send,
    // A key that is kept for ever keeps no answer: that is made of the operation.
    claim?.forever ? undefined : answerOf,
  );
  if (earlier) return { earlier };
  const told = outcomesTold(plan.kind, recorded, outcomes);
  return told === outcomes
    ? answerOf(operationId, outcomes)
    : rendered(answerWrite(plan, operationId, told), requestId);
}

async function acceptAgain(
  deps: WriteDeps,
  written: WrittenOperation,
  asked: AskedAgain,
): Promise<WriteAnswer> {
  const { operationId, ...others } = await accept(
    deps,
    await planFor(deps, written, repeatableOf(written)),
    asked,
  );
  return { status: 200, body: { operationId }, ...others };
}

function answerWith(request: FastifyRequest, reply: FastifyReply, answer: WriteAnswer): FastifyReply {
  if (answer.replayed) reply.header('idempotent-replayed', 'true');
  const { operationId, code } = answer.body as { operationId?: string; code?: string };
  request.about = Object.assign(request.about ?? {}, { operationId, problem: code });
  if (answer.problem) return sendProblem(request, reply, answer.problem, answer.body);
  const isProblem = answer.status !== 200 && code !== undefined;
  return isProblem
    ? sendProblemBody(reply, answer.status, answer.body)
    : reply.code(answer.status).send(answer.body);
}
