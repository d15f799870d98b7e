import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { optionalBody } from '../../kit/optional-body-schema.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { record } from '../../events/index.ts';
import { problem, type Problem } from '../../kit/problem.ts';
import { isUnresolved, type RecordPayload, type WrittenOperation } from '../../operations/index.ts';
import { refuseDead } from '../target.ts';
import { planAgain } from './prepare/plan.ts';
import { orderKeysOf } from './prepare/prepare.ts';
import { WriteAccepted } from './schema.ts';
import { scopeOf } from './prepare/scope.ts';
import { plannedRecordOf, storedWriteOf } from './prepare/stored.ts';
import type { WriteDeps } from './writes.ts';

const defaultDeadlineHours = 1;
const RetryOptions = Type.Object(
  {
    retryPolicy: Type.Optional(
      Type.Object(
        {
          deadlineHours: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 48, default: defaultDeadlineHours }),
          ),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);
const RetryRequest = optionalBody(RetryOptions, 'RetryOperationRequest');

/** `POST /v1/projects/{p}/operations/{id}:retry`: what is known not to have been done is written again. */
export function retryRoutes(deps: WriteDeps): (server: HttpServer) => Promise<void> {
  return async (server) => {
    server.route({
      method: 'POST',
      url: '/projects/:projectIdOrName/operations/:operationId(^[^:]+)::retry',
      schema: {
        operationId: 'retryOperation',
        summary: 'Write the records of an operation again that failed',
        description:
          'Those that failed or were resolved as `notApplied`, as they were planned, asynchronously, in a new operation. What the config and the manifest forbid by now is refused or left away. Refused while a record is of unknown outcome. An operation is repeated once: a second call answers the operation of the first.',
        tags: ['operations'],
        params: Type.Object({ projectIdOrName: Type.String(), operationId: Type.String() }),
        body: RetryRequest,
        response: { 200: WriteAccepted },
      },
      config: { scopes: ['write'] },
      handler: async ({ principal, params, body }, reply) => {
        const reach = deps.projects.confine(principal, params.projectIdOrName);
        const written = await deps.operations.written(reach, params.operationId);
        const { retriedBy } = written.operation;
        const hours = body?.retryPolicy?.deadlineHours ?? defaultDeadlineHours;
        const { operationId, replayed } = retriedBy
          ? { operationId: retriedBy, replayed: true }
          : await retry(deps, written, hours);
        if (replayed) reply.header('idempotent-replayed', 'true');
        return { operationId };
      },
    });
  };
}

/** The records that are written again, or why none are. Pure. */
export function planRetry({
  operation,
  records,
}: WrittenOperation): { records: RecordPayload[] } | { refusal: Problem } {
  if (operation.status === 'in_progress') {
    return { refusal: problem('operation-in-progress', { retryAfterSeconds: 5 }) };
  }
  const unresolved = records.filter(isUnresolved).map(({ slot }) => slot);
  if (unresolved.length > 0) {
    const detail = `Of unknown outcome: record ${unresolved.join(', ')}.`;
    return { refusal: problem('outcome-unresolved', { detail, extra: { records: unresolved } }) };
  }
  const failed = records.filter(
    ({ outcome, resolution }) => outcome?.kind === 'notApplied' || resolution?.resolution === 'notApplied',
  );
  if (operation.actionType !== 'write' || failed.length === 0)
    return { refusal: problem('nothing-to-retry') };
  return { records: failed.map(({ payload }) => payload) };
}

async function retry(
  deps: WriteDeps,
  written: WrittenOperation,
  deadlineHours: number,
): Promise<{ operationId: string; replayed?: true }> {
  const planned = planRetry(written);
  if ('refusal' in planned) throw planned.refusal;
  const { id, projectId, integrationId, installationId, resource } = written.operation;
  const target = await deps.installations.refreshTarget(projectId, { installationId });
  if (!target) throw problem('installation-not-found', { detail: 'The installation was deleted.' });
  const { kind, objectName, provider, upsertBy } = storedWriteOf(written.request);
  const again = planAgain(
    kind,
    planned.records.map(plannedRecordOf),
    scopeOf(target, objectName, deps.ground.limits),
    upsertBy,
  );
  if ('refusal' in again) throw again.refusal;
  const { records } = again;
  refuseDead(target);
  // The acceptance is a commit of many: who asked for it is written first.
  await record(deps.ground.database, { projectId, action: 'operation.retried', targetId: id });
  const { connectionId } = target;
  return deps.operations.acceptQueued({
    projectId,
    integrationId,
    installationId,
    configId: target.configId,
    laneId: connectionId,
    actionType: 'write',
    resource,
    request: { ...written.request, mode: 'asynchronous', connectionId, retryOf: id },
    records,
    deadlineSeconds: deadlineHours * 3600,
    orderKeys: orderKeysOf({ installationId, provider, objectName, upsertBy }, records),
    // Ours, not a caller's: of two calls at once, one makes the operation.
    key: { principal: 'retry', key: id, hash: createHash('sha256').update(id).digest(), forever: true },
  });
}
