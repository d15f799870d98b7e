import { problem } from '../../kit/problem.ts';
import type { Ground } from '../../kit/ground.ts';
import type { Connections } from '../../connections/index.ts';
import type { Installations, Target } from '../../installations/index.ts';
import type {
  Intake,
  ItemResult,
  Operations,
  Performed,
  RecordPayload,
  WorkHandler,
  WorkItem,
} from '../../operations/index.ts';
import type { Projects } from '../../projects/index.ts';
import { connectorOf, type Connector, type Failure, type ProviderClient } from '../../providers/index.ts';
import { executeWrite, failureOfProblem } from './execute.ts';
import type { PlannedRecord, WritePlan } from './plan.ts';

export interface WriteDeps {
  ground: Ground;
  projects: Projects;
  connections: Connections;
  installations: Installations;
  operations: Operations;
}

/** What of a plan is kept with the operation: enough to execute it on any node. */
type StoredWrite = Pick<WritePlan, 'kind' | 'mode' | 'form' | 'objectName' | 'allOrNone' | 'headers'> & {
  /** Words the result of the operation. */
  type: WritePlan['kind'];
  provider: string;
};

/** Accepts a plan as queued work; a worker executes it. */
export async function enqueueWrite(deps: WriteDeps, target: Target, plan: WritePlan): Promise<string> {
  const { operationId } = await deps.operations.acceptQueued({
    ...intakeOf(target, plan),
    laneId: target.connectionId,
    orderKeys: plan.records.map(({ id }) =>
      id === undefined ? null : `${target.installationId}/${plan.objectName}/${id}`,
    ),
  });
  return operationId;
}

/** Accepts a plan as started, executes it at once and records what became of it. */
export async function performWrite(deps: WriteDeps, target: Target, plan: WritePlan): Promise<Performed> {
  // Asked first: a connection that cannot be used refuses the write before it has an operation.
  const client = await deps.connections.client(target.projectId, target.connectionId);
  return deps.operations.acceptMarked(intakeOf(target, plan), async (_operationId, context) =>
    executeWrite(plan, plan.records, {
      connector: connectorFor(target.provider),
      client,
      mayStillSend: () => context.mayStillSend(),
      isRepeat: false,
    }),
  );
}

/** Does queued writes: the items of a lane are of one connection and run at once. */
export function writeHandler(deps: WriteDeps): WorkHandler {
  return {
    execute: (items, context) =>
      Promise.all(items.map((item) => executeItem(deps, item, () => context.mayStillSend()))),
  };
}

async function executeItem(
  deps: WriteDeps,
  item: WorkItem,
  mayStillSend: () => boolean,
): Promise<ItemResult> {
  const { kind, objectName, allOrNone, headers, provider } = item.request as unknown as StoredWrite;
  const records = item.records.map(({ payload }) => payload as unknown as PlannedRecord);
  const found = await findClient(deps, item);
  if ('failure' in found) {
    // Nothing was sent; a connection or a database that is away for a moment costs no attempt.
    if (found.failure.retryable) return { kind: 'postponed', inMs: 1_000 };
    return {
      kind: 'outcomes',
      outcomes: records.map(() => ({ kind: 'notApplied', failure: found.failure })),
    };
  }
  const context = {
    connector: connectorFor(provider),
    client: found.client,
    mayStillSend,
    isRepeat: item.attempt > 1,
  };
  return {
    kind: 'outcomes',
    outcomes: await executeWrite({ kind, objectName, allOrNone, headers }, records, context),
  };
}

async function findClient(
  deps: WriteDeps,
  item: WorkItem,
): Promise<{ client: ProviderClient } | { failure: Failure }> {
  try {
    return { client: await deps.connections.client(item.projectId, item.laneId) };
  } catch (error) {
    return { failure: failureOfProblem(error) };
  }
}

function intakeOf(target: Target, plan: WritePlan): Omit<Intake, 'laneId'> {
  const { records, deadlineSeconds, kind, mode, form, objectName, allOrNone, headers } = plan;
  const request: StoredWrite = {
    type: kind,
    kind,
    mode,
    form,
    objectName,
    allOrNone,
    headers,
    provider: target.provider,
  };
  return {
    projectId: target.projectId,
    integrationId: target.integrationId,
    installationId: target.installationId,
    configId: target.configId,
    actionType: 'write',
    resource: objectName,
    request,
    records: records as unknown as RecordPayload[],
    deadlineSeconds,
  };
}

/** Only providers with a write ability pass the planner. */
function connectorFor(provider: string): Connector {
  const connector = connectorOf(provider);
  if (!connector) throw problem('internal', { detail: `There is no connector for ${provider}.` });
  return connector;
}
