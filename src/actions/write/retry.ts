import { Type } from 'typebox';
import { optionalBody } from '../../kit/optional-body-schema.ts';
import { noteDone } from '../../kit/db/deeds.ts';
import type { HttpServer } from '../../kit/http/server.ts';
import { isOfOneAccount, type Connections } from '../../connections/index.ts';
import { record, wholeProject } from '../../events/index.ts';
import type { Target } from '../../installations/index.ts';
import { problem, Problem } from '../../kit/problem.ts';
import { isNotDone, isUnresolved, type WrittenOperation } from '../../operations/index.ts';
import { refuseDead } from '../target.ts';
import { keyOfRetry, refuseUnsettled } from './accept/again.ts';
import { planAgain } from './prepare/plan.ts';
import { orderKeysOf } from './prepare/prepare.ts';
import { WriteAccepted } from './schema.ts';
import { scopeOf } from './prepare/scope.ts';
import { plannedRecordOf, storedWriteOf, type PlannedRecord, type StoredWrite } from './prepare/stored.ts';
import type { WriteDeps } from './writes.ts';

export const defaultDeadlineHours = 1;
export const retryOptions = {
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
};
const RetryRequest = optionalBody(
  Type.Object(retryOptions, { additionalProperties: false }),
  'RetryOperationRequest',
);

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
          'Those that failed or were resolved as `notApplied`, as they were planned, asynchronously, in a new operation. What the config and the manifest forbid by now is refused or left away. Refused while a record is of unknown outcome, and once the installation has a connection of another account. An operation is repeated once: a second call answers the operation of the first.',
        tags: ['operations'],
        params: Type.Object({ projectIdOrName: Type.String(), operationId: Type.String() }),
        body: RetryRequest,
        response: { 200: WriteAccepted },
      },
      config: { scopes: ['write', 'remediate'] },
      handler: async ({ id, principal, params, body }, reply) => {
        const reach = deps.projects.confine(principal, params.projectIdOrName);
        const written = await deps.operations.written(reach, params.operationId);
        const { id: writtenId, retriedBy } = written.operation;
        const deadlineHours = body?.retryPolicy?.deadlineHours ?? defaultDeadlineHours;
        if (retriedBy) await refuseUnsettled(deps.operations, reach.projectId, writtenId);
        const { operationId, replayed } = retriedBy
          ? { operationId: retriedBy, replayed: true }
          : await accept(deps, await planFor(deps, written), { requestId: id, deadlineHours });
        if (replayed) reply.header('idempotent-replayed', 'true');
        return { operationId };
      },
    });
  };
}

const leftToCaller =
  'Its caller was told that nothing was done, and to send it again: whoever else repeats it writes it a second time.';

/** The records that are written again, or why none are. `mayRepeat`: which of them may be. Pure. */
export function planRetry(
  { operation, records }: WrittenOperation,
  mayRepeat: typeof isNotDone = isNotDone,
): { records: WrittenOperation['records'] } | { refusal: Problem } {
  if (operation.status === 'in_progress') {
    return { refusal: problem('operation-in-progress', { retryAfterSeconds: 5 }) };
  }
  const unresolved = records.filter((one) => isUnresolved(one) && !mayRepeat(one)).map(({ slot }) => slot);
  if (unresolved.length > 0) {
    const detail = `Of unknown outcome: record ${unresolved.join(', ')}.`;
    return { refusal: problem('outcome-unresolved', { detail, extra: { records: unresolved } }) };
  }
  const notDone = records.filter(mayRepeat);
  const failed = notDone.filter(
    ({ outcome }) => !(outcome?.kind === 'notApplied' && outcome.failure.leftToCaller),
  );
  if (operation.actionType !== 'write' || failed.length === 0)
    return { refusal: problem('nothing-to-retry', notDone.length > 0 ? { detail: leftToCaller } : {}) };
  return { records: failed };
}

/** What is known to be written again: the records as the config and the manifest of now allow them. Throws the refusal. */
export async function planFor(
  deps: WriteDeps,
  written: WrittenOperation,
  mayRepeat?: typeof isNotDone,
): Promise<PlannedRetry> {
  const planned = planRetry(written, mayRepeat);
  if ('refusal' in planned) throw planned.refusal;
  const { projectId, installationId } = written.operation;
  const target = await deps.installations.refreshTarget(projectId, { installationId });
  if (!target) throw installationGone();
  const write = storedWriteOf(written.request);
  const again = planAgain(
    write.kind,
    planned.records.map(({ slot, payload }) => ({ slot, record: plannedRecordOf(payload) })),
    scopeOf(target, write.objectName, deps.ground.limits),
    write.upsertBy,
  );
  if ('refusal' in again) throw again.refusal;
  refuseDead(target);
  await refuseOtherAccount(deps.connections, write, target);
  return { written, target, write, records: again.records };
}

/** Throws where a synchronous write that stands in the place of another would go elsewhere than that one. */
export async function refuseElsewhere(
  { connections }: Pick<WriteDeps, 'connections'>,
  { operation, request }: WrittenOperation,
  target: Target,
): Promise<void> {
  if (operation.installationId !== target.installationId) throw installationGone();
  await refuseOtherAccount(connections, storedWriteOf(request), target);
}

/** Another installation of the group does not help: an operation stays with its own. */
function installationGone(): Problem {
  return problem('installation-not-found', {
    detail: 'The installation of the operation was deleted.',
    remedy:
      'Send the records in a new write, with an `Idempotency-Key` of its own; `…/operations/{operation}/records` tells which were not done.',
  });
}

/** Ids of records hold in one account alone, and what was planned for one is not moved to another unasked. */
async function refuseOtherAccount(
  connections: Connections,
  { connectionId }: StoredWrite,
  { projectId, connectionId: nowId }: Target,
): Promise<void> {
  if (connectionId === nowId) return;
  const reach = wholeProject(projectId);
  const [before, now] = await Promise.all(
    [connectionId, nowId].map((id) => connections.get(reach, id).catch(undefinedIfGone)),
  );
  if (before && now && isOfOneAccount(before, now)) return;
  throw problem('connection-changed', {
    detail: `The operation was planned for the connection ${connectionId}, and its installation uses ${nowId} now, of another account for all that is known.`,
  });
}

function undefinedIfGone(error: unknown): undefined {
  if (!(error instanceof Problem) || error.code !== 'not-found') throw error;
}

interface PlannedRetry {
  written: WrittenOperation;
  target: Target;
  write: StoredWrite;
  records: PlannedRecord[];
}

/** Who asks for it, and until when attempts may start. */
export interface AskedAgain {
  requestId: string;
  deadlineHours: number;
}

/** Of two calls at once, one makes the operation, and both are answered with it. */
export async function accept(
  deps: WriteDeps,
  { written, target, write, records }: PlannedRetry,
  { requestId, deadlineHours }: AskedAgain,
): Promise<{ operationId: string; replayed?: true }> {
  const { id, projectId, integrationId, installationId, resource, groupRef } = written.operation;
  const { objectName, provider, upsertBy } = write;
  // The acceptance is a commit of many: who asked for it is written first.
  await record(deps.ground.database, {
    projectId,
    action: 'operation.retried',
    targetId: id,
    details: { groupRef },
  });
  const { connectionId } = target;
  const accepted = await deps.operations.acceptQueued({
    projectId,
    integrationId,
    installationId,
    configId: target.configId,
    laneId: connectionId,
    actionType: 'write',
    resource,
    request: { ...written.request, mode: 'asynchronous', connectionId, requestId, retryOf: id },
    records: records.map(({ requestId: _first, ...planned }) => planned),
    deadlineSeconds: deadlineHours * 3600,
    orderKeys: orderKeysOf({ installationId, provider, objectName, upsertBy }, records),
    key: keyOfRetry(id),
  });
  if (accepted.replayed) await refuseUnsettled(deps.operations, projectId, id);
  else noteDone();
  return accepted;
}
