import { problem } from '../../kit/problem.ts';
import type { Ground } from '../../kit/ground.ts';
import type { Connections } from '../../connections/index.ts';
import type { Installations, Target } from '../../installations/index.ts';
import type { Heard, WorkContext } from '../../lanes/index.ts';
import type { Intake, KeyClaim, Operations, RecordPayload, WorkItem } from '../../operations/index.ts';
import type { Projects } from '../../projects/index.ts';
import {
  canonicalIdOf,
  connectorOf,
  type Connector,
  type Failure,
  type ProviderClient,
} from '../../providers/index.ts';
import { budgetOf, refuseClosed } from './budget.ts';
import { attemptWrite, resolveStopped, unknownForAll, type AttemptContext } from './attempt.ts';
import { descriptionsOf } from '../descriptions.ts';
import { failureBeforeSend } from '../send.ts';
import type { PlannedRecord, WritePlan } from './plan.ts';
import type { ItemResult, Sender } from './sender.ts';
import type { AnswerOf, Performed, Send } from './synchronous.ts';
import type { Writes } from './writes.ts';

export interface WriteDeps {
  ground: Ground;
  projects: Projects;
  connections: Connections;
  installations: Installations;
  operations: Operations;
  writes: Writes;
}

/** What of a plan is kept with the operation: enough to execute it on any node. */
export type StoredWrite = Pick<
  WritePlan,
  'kind' | 'mode' | 'form' | 'objectName' | 'allOrNone' | 'headers' | 'onUnknown'
> & {
  /** Words the result of the operation. */
  type: WritePlan['kind'];
  provider: string;
  /** The lane of a synchronous write is its node's, and does not tell. */
  connectionId: string;
  groupRef: string;
};

/** How long the caller of a synchronous write waits for a lost record to be looked up: two reads and the time between. */
const patienceMs = 5_000;
/** How often a look-up that fails is made in one attempt. */
const tries = 3;

/** Accepts a plan as queued work; a worker executes it. `replayed`: the key stands for that operation already. */
export async function enqueueWrite(
  deps: WriteDeps,
  target: Target,
  plan: WritePlan,
  key: KeyClaim | undefined,
): Promise<{ operationId: string; replayed?: true }> {
  const orderKeys = plannedKeys(target, plan);
  const laneId = target.connectionId;
  const { records, ...intake } = intakeOf(target, plan);
  const [record] = records;
  if (!plan.autoBatch || !record)
    return deps.operations.acceptQueued({ ...intake, laneId, key, records, orderKeys });
  return deps.writes.gather({
    ...intake,
    ...plan.autoBatch,
    laneId,
    key,
    request: { ...intake.request, form: 'batch' },
    record,
    orderKey: orderKeys[0] ?? null,
  });
}

function plannedKeys(target: Target, plan: WritePlan): (string | null)[] {
  const { installationId, provider } = target;
  const ids = plan.records.map(({ id }) => id);
  return orderKeysOf({ installationId, provider, objectName: plan.objectName }, ids);
}

/** Writes to one record of an installation are done in the order in which they were accepted. `ids`: one for each record. */
export function orderKeysOf(
  { installationId, provider, objectName }: { installationId: string; provider: string; objectName: string },
  ids: readonly unknown[],
): (string | null)[] {
  const place = `${installationId}/${objectName.toLowerCase()}`;
  return ids.map((id) => (typeof id === 'string' ? `${place}/${canonicalIdOf(provider, id)}` : null));
}

/** Accepts a plan as started, executes it at once and records what became of it; with a key that stands already, nothing. */
export async function performWrite(
  deps: WriteDeps,
  target: Target,
  plan: WritePlan,
  key: KeyClaim | undefined,
  answerOf: AnswerOf,
): Promise<Performed> {
  // Asked first: a connection that cannot be used refuses the write before it has an operation.
  const client = await deps.connections.client(target.projectId, target.connectionId);
  const budget = await budgetOf(deps.connections, target.projectId, target.connectionId);
  refuseClosed(budget.waitMs());
  const send: Send = async (_item, work) => {
    const context = contextOf(deps, storedOf(target, plan), budget.guard(client), work);
    const outcomes = await attemptWrite(
      plan,
      { acceptedAt: Date.now(), records: plan.records, earlier: new Map() },
      { ...context, patienceMs },
    );
    budget.note(outcomes);
    return outcomes;
  };
  const orderKeys = plannedKeys(target, plan);
  return deps.writes.perform({ ...intakeOf(target, plan), key, orderKeys }, send, answerOf);
}

/** Does queued writes: the items of a lane are of one connection and run at once. */
export function senderOf(deps: WriteDeps): Sender {
  return {
    send: (item, work) => executeItem(deps, item, work),
    findOut: (item, work) => resolveItem(deps, item, work),
  };
}

async function executeItem(deps: WriteDeps, item: WorkItem, work: WorkContext): Promise<ItemResult> {
  const stored = item.request as unknown as StoredWrite;
  const records = recordsOf(item);
  // Before the budget: what can never be sent waits for no window.
  const found = (await refuseRemoved(deps, item)) ?? (await findClient(deps, item.projectId, item.laneId));
  if ('failure' in found) {
    // Nothing was sent; a connection or a database that is away for a moment costs no attempt.
    if (found.failure.retryable) return { kind: 'postponed', inMs: 1_000 };
    return {
      kind: 'outcomes',
      outcomes: records.map(() => ({ kind: 'notApplied', failure: found.failure })),
    };
  }
  const budget = await budgetOf(deps.connections, item.projectId, item.laneId);
  const inMs = budget.waitMs();
  if (inMs > 0) return { kind: 'throttled', inMs };
  const { client, heard } = listenTo(found.client);
  const outcomes = await attemptWrite(
    stored,
    { acceptedAt: item.acceptedAt, records, earlier: earlierOf(item) },
    { ...contextOf(deps, stored, budget.guard(client), work), isRepeat: item.attempt > 1 },
  );
  budget.note(outcomes);
  return { kind: 'outcomes', outcomes, heard: heard() };
}

/** An item whose node stopped while it was on its way. A synchronous write is not sent again, whatever becomes of it. */
async function resolveItem(deps: WriteDeps, item: WorkItem, work: WorkContext): Promise<ItemResult> {
  const stored = item.request as unknown as StoredWrite;
  const found = await findClient(deps, item.projectId, stored.connectionId);
  const records = recordsOf(item);
  const earlier = earlierOf(item);
  if ('failure' in found)
    return { kind: 'outcomes', outcomes: unknownForAll(stored, { records, earlier }, found.failure) };
  const budget = await budgetOf(deps.connections, item.projectId, stored.connectionId);
  const { client, heard } = listenTo(found.client);
  const context = contextOf(deps, stored, budget.guard(client), work);
  const outcomes = await resolveStopped(stored, { acceptedAt: item.acceptedAt, records, earlier }, context);
  return { kind: 'outcomes', outcomes, heard: heard() };
}

/** Whether the provider answers at all: one answer is enough; what was kept back here says nothing. */
function listenTo(client: ProviderClient): { client: ProviderClient; heard: () => Heard | undefined } {
  let heard: Heard | undefined;
  return {
    heard: () => heard,
    client: {
      async send(request, maySend) {
        const result = await client.send(request, maySend);
        if ('answer' in result) heard = 'answer';
        else if (result.fault.kind === 'timeout' || result.fault.kind === 'connect') heard ??= 'silence';
        return result;
      },
    },
  };
}

function recordsOf(item: WorkItem): PlannedRecord[] {
  return item.records.map(({ payload }) => payload as unknown as PlannedRecord);
}

/** By the slot in the item: how the attempt before ended. */
function earlierOf(item: WorkItem): Map<number, Failure> {
  const entries = item.records.map(({ index }, slot) => [slot, item.earlier.get(index)] as const);
  return new Map(entries.flatMap(([slot, failure]) => (failure ? [[slot, failure] as const] : [])));
}

function contextOf(
  { connections, ground }: WriteDeps,
  { provider, connectionId, objectName }: StoredWrite,
  client: ProviderClient,
  work: WorkContext,
): AttemptContext {
  const connector = connectorFor(provider);
  return {
    connector,
    client,
    mayStillSend: () => work.mayStillSend(),
    isRepeat: false,
    describe: () => descriptionsOf(connections).of(connectionId, objectName, connector, client),
    signal: work.signal,
    tries,
    lateEffectMs: ground.limits.lateEffectMs,
  };
}

/** What waited while its installation was removed is not sent with the connection that it leaves behind. */
async function refuseRemoved(deps: WriteDeps, item: WorkItem): Promise<{ failure: Failure } | undefined> {
  try {
    const { projectId, installationId } = item;
    if (await deps.installations.findTarget(projectId, { installationId })) return undefined;
  } catch (error) {
    return { failure: failureBeforeSend(error) };
  }
  const message = 'the installation was removed before the record was sent';
  return { failure: { category: 'permission', retryable: false, message } };
}

async function findClient(
  deps: WriteDeps,
  projectId: string,
  connectionId: string,
): Promise<{ client: ProviderClient } | { failure: Failure }> {
  try {
    return { client: await deps.connections.client(projectId, connectionId) };
  } catch (error) {
    return { failure: failureBeforeSend(error) };
  }
}

function intakeOf(target: Target, plan: WritePlan): Omit<Intake, 'laneId'> {
  const { records, deadlineSeconds, objectName } = plan;
  return {
    projectId: target.projectId,
    integrationId: target.integrationId,
    installationId: target.installationId,
    configId: target.configId,
    actionType: 'write',
    resource: objectName,
    request: storedOf(target, plan),
    records: records as unknown as RecordPayload[],
    deadlineSeconds,
  };
}

function storedOf(target: Target, plan: WritePlan): StoredWrite {
  const { kind, mode, form, objectName, allOrNone, headers, onUnknown } = plan;
  return {
    type: kind,
    kind,
    mode,
    form,
    objectName,
    allOrNone,
    headers,
    ...(onUnknown === undefined ? {} : { onUnknown }),
    provider: target.provider,
    connectionId: target.connectionId,
    groupRef: target.groupRef,
  };
}

/** Only providers with a write ability pass the planner. */
function connectorFor(provider: string): Connector {
  const connector = connectorOf(provider);
  if (!connector) throw problem('internal', { detail: `There is no connector for ${provider}.` });
  return connector;
}
