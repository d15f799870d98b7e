import type { Caller, Connections } from '../../../connections/index.ts';
import { problem, type Problem } from '../../../kit/problem.ts';
import type { Heard, WorkContext } from '../../../lanes/index.ts';
import { findCreatedElsewhere, placeOf, type WorkItem } from '../../../operations/index.ts';
import {
  connectorOf,
  type Connector,
  type Failure,
  type ProviderClient,
  type RecordOutcome,
} from '../../../providers/index.ts';
import { descriptionsOf } from '../../descriptions.ts';
import { failureBeforeSend } from '../../send.ts';
import {
  attemptWrite,
  resolveStopped,
  unknownForAll,
  unsentForAll,
  type AttemptContext,
  type AttemptRecords,
} from './attempt.ts';
import { refuseDeletion } from '../prepare/plan.ts';
import type { PreparedWrite } from '../prepare/prepare.ts';
import { scopeOf } from '../prepare/scope.ts';
import { quietMsOf, stillQuietMs } from './resolve.ts';
import type { ItemResult, Sender } from './sender.ts';
import { plannedRecordOf, storedWriteOf, type StoredWrite } from '../prepare/stored.ts';
import type { Send } from './synchronous.ts';
import type { WriteDeps } from '../writes.ts';

/** How long the caller of a synchronous write waits for a lost record to be looked up: two reads and the time between. */
const patienceMs = 5_000;
/** How often a look-up that fails is made in one attempt. */
const tries = 3;

/** Makes ready to send a synchronous write. A connection that cannot be used refuses it before it has an operation. */
export async function readyToSend(
  deps: WriteDeps,
  { target, plan }: PreparedWrite,
  requestId: string,
): Promise<Send> {
  // The operation is made when it may be sent.
  const caller: Caller = { groupRef: target.groupRef, requestId };
  const line = await openLine(deps.connections, target.projectId, target.connectionId, caller);
  refuseClosed(line.waitMs());
  const { provider, connectionId } = target;
  return async (item, work) => {
    caller.operationId = item.operationId;
    const context = contextOf(deps, { ...plan, provider, connectionId }, line, item, work);
    const given = { acceptedAt: item.acceptedAt, records: plan.records, earlier: new Map() };
    const outcomes = await attemptWrite(plan, given, { ...context, patienceMs });
    line.note(outcomes);
    return outcomes;
  };
}

/** Sends queued writes: the items of a lane are of one connection and run at once. */
export function senderOf(deps: WriteDeps): Sender {
  return {
    send: (item, work) => sendQueued(deps, item, work),
    findOut: (item, work) => findOut(deps, item, work),
  };
}

async function sendQueued(deps: WriteDeps, item: WorkItem, work: WorkContext): Promise<ItemResult> {
  const restMs = restMsOf(item, () => quietMsIn(deps, item));
  if (restMs > 0) return { kind: 'postponed', inMs: restMs };
  const ready = await readyItem(deps, item);
  if ('failure' in ready) {
    const { failure } = ready;
    // Nothing was sent; a connection or a database that is away for a moment costs no attempt.
    if (failure.retryable) return { kind: 'postponed', inMs: 1_000 };
    if (failure.category === 'auth') {
      const { write, given } = keptOf(item);
      return { kind: 'outcomes', outcomes: unsentForAll(write, given, failure) };
    }
    return { kind: 'outcomes', outcomes: item.records.map(() => ({ kind: 'notApplied', failure })) };
  }
  const { write, given, line } = ready;
  const inMs = await line.surelyWaitMs();
  if (inMs > 0) return { kind: 'throttled', inMs };
  const context = contextOf(deps, write, line, item, work);
  const outcomes = await attemptWrite(write, given, { ...context, isRepeat: mayBeDone(given) });
  line.note(outcomes);
  return { kind: 'outcomes', outcomes, heard: line.heard() };
}

/** Whether an earlier attempt may have been done: that one was made does not say so. Pure. */
export function mayBeDone({ earlier }: Pick<AttemptRecords, 'earlier'>): boolean {
  return [...earlier.values()].some(({ category }) => category === 'unknownOutcome');
}

interface Ready extends Kept {
  line: Line;
}

/** All that sending an item takes, or what keeps it from being sent. */
async function readyItem(deps: WriteDeps, item: WorkItem): Promise<Ready | { failure: Failure }> {
  const { projectId, installationId } = item;
  try {
    const kept = keptOf(item);
    const { kind, objectName } = kept.write;
    const target = await deps.installations.findTarget(projectId, { installationId });
    // What waited while its installation was removed is not sent with the connection that it leaves behind.
    if (!target) return { failure: removed };
    const refusal =
      kind === 'delete' && refuseDeletion(kind, scopeOf(target, objectName, deps.ground.limits));
    if (refusal) return { failure: forbidden(refusal) };
    // The lane of a synchronous write is that of its node.
    const { connectionId } = kept.write;
    return { ...kept, line: await openLine(deps.connections, projectId, connectionId, callerOf(item)) };
  } catch (error) {
    return { failure: failureBeforeSend(error) };
  }
}

const removed: Failure = {
  category: 'permission',
  retryable: false,
  message: 'the installation was removed before the record was sent',
  gone: true,
};

const forbidden = ({ message }: Problem): Failure => ({ category: 'permission', retryable: false, message });

/**
 * An item whose node stopped while it was on its way, or whose answer stays lost. A synchronous write is not sent again, whatever becomes
 * of it, unless it is an upsert.
 */
async function findOut(deps: WriteDeps, item: WorkItem, work: WorkContext): Promise<ItemResult> {
  const { write, given } = keptOf(item);
  const quietMs = quietMsIn(deps, item);
  const unasked = (failure: Failure): ItemResult => ({
    kind: 'outcomes',
    outcomes: unknownForAll(write, given, failure, quietMs),
  });
  const restMs = write.mode === 'synchronous' ? restMsOf(item, () => quietMs) : 0;
  if (restMs > 0) return { kind: 'postponed', inMs: restMs };
  if (write.kind === 'upsert') {
    const ready = await readyItem(deps, item);
    if ('failure' in ready) return unasked(ready.failure);
    const outcomes = await resolveStopped(write, given, contextOf(deps, write, ready.line, item, work));
    ready.line.note(outcomes);
    return { kind: 'outcomes', outcomes, heard: ready.line.heard() };
  }
  const { connectionId } = write;
  const line = await openLine(deps.connections, item.projectId, connectionId, callerOf(item)).catch(
    (error: unknown) => ({ failure: failureBeforeSend(error) }),
  );
  if ('failure' in line) return unasked(line.failure);
  const context = contextOf(deps, write, line, item, work);
  const outcomes = await resolveStopped(write, given, context);
  return { kind: 'outcomes', outcomes, heard: line.heard() };
}

/** For how long nothing is sent of an item yet, nor called undone, since what an earlier attempt sent may still take effect. */
export function restMsOf({ request, earlier, sinceEarlierMs }: WorkItem, quietMs: () => number): number {
  if (earlier.size === 0) return 0;
  return stillQuietMs(storedWriteOf(request).kind, earlier.values(), sinceEarlierMs, quietMs());
}

function quietMsIn({ ground }: WriteDeps, { request }: WorkItem): number {
  const { provider } = placeOf(request);
  return quietMsOf(connectorOf(provider ?? '') ?? {}, ground.limits.lateEffectMs);
}

function callerOf({ request, operationId }: WorkItem): Caller {
  const { groupRef, requestId } = placeOf(request);
  return { groupRef, operationId, requestId };
}

interface Kept {
  write: StoredWrite;
  given: AttemptRecords;
}

/** What an item keeps of its write. Throws internal when it cannot be read. */
export function keptOf({ request, records, acceptedAt, earlier, isLost }: WorkItem): Kept {
  const before = records.flatMap(({ index }, slot) => {
    const failure = earlier.get(index);
    return failure ? [[slot, failure] as const] : [];
  });
  return {
    write: storedWriteOf(request),
    given: {
      acceptedAt,
      records: records.map(({ payload }) => plannedRecordOf(payload)),
      earlier: new Map(before),
      ...(isLost ? { isLost } : {}),
    },
  };
}

function contextOf(
  { connections, ground, operations }: WriteDeps,
  { provider, connectionId, objectName }: Pick<StoredWrite, 'provider' | 'connectionId' | 'objectName'>,
  { client }: Line,
  item: WorkItem,
  work: WorkContext,
): AttemptContext {
  const connector = connectorFor(provider);
  const { projectId, operationId, attempt } = item;
  const { groupRef } = placeOf(item.request);
  const of = { projectId, operationId, groupRef, attempt, withGoodAnswers: true };
  const describing = operations.exchangeLog.watch(client, of, 'failed');
  return {
    connector,
    client: operations.exchangeLog.watch(client, of),
    mayStillSend: () => work.mayStillSend(),
    isRepeat: false,
    describe: () =>
      descriptionsOf(connections).of({ projectId, connectionId }, objectName, connector, describing),
    signal: work.signal,
    tries,
    // Others may have the same value; and a caller who heard that nothing was sent may have written the same again.
    madeElsewhere: (recordIds) => findCreatedElsewhere(ground.database, item, recordIds),
    lateEffectMs: ground.limits.lateEffectMs,
  };
}

/** Only providers with a write ability pass the planner. */
function connectorFor(provider: string): Connector {
  const connector = connectorOf(provider);
  if (!connector) throw problem('internal', { detail: `There is no connector for ${provider}.` });
  return connector;
}

/** One connection, as writes call by it: within its budget, and with an ear for whether anybody answers. */
interface Line {
  /** Sends nothing while the window of the connection is closed: it throws provider-rate-limited. */
  client: ProviderClient;
  /** Milliseconds until something may be sent; 0: now. */
  waitMs(): number;
  /** The same, for who waits so long. */
  surelyWaitMs(): Promise<number>;
  /** One answer is enough; what was kept back here says nothing. */
  heard(): Heard | undefined;
  /** Closes the window if an outcome says so: one record of an answer may, when the answer as a whole does not. */
  note(outcomes: readonly RecordOutcome[]): void;
}

/** Resolves once closed windows are known to this node. Throws when the connection cannot be used. */
async function openLine(
  connections: Connections,
  projectId: string,
  connectionId: string,
  caller: Caller,
): Promise<Line> {
  const client = await connections.client(projectId, connectionId, caller);
  const { budget } = connections;
  await budget.ready();
  let heard: Heard | undefined;
  const { generation } = client;
  const waitMs = (): number => budget.waitMs(projectId, connectionId, 'write');
  return {
    waitMs,
    surelyWaitMs: () => budget.surelyWaitMs(projectId, connectionId, 'write'),
    heard: () => heard,
    client: {
      async send(request, maySend, told) {
        refuseClosed(waitMs());
        const result = await client.send(request, maySend, told);
        if ('answer' in result) heard = 'answer';
        else if (result.fault.kind === 'timeout' || result.fault.kind === 'connect') heard ??= 'silence';
        return result;
      },
    },
    note(outcomes) {
      for (const outcome of outcomes) {
        if (outcome.kind === 'applied' || outcome.failure.category !== 'rateLimit') continue;
        const forMs = outcome.failure.retryAfterMs;
        if (forMs !== undefined && waitMs() === 0)
          budget.close(projectId, connectionId, { forMs, lockedOut: false }, { ...caller, generation });
      }
    },
  };
}

/** Throws provider-rate-limited unless the wait is 0. */
function refuseClosed(waitMs: number): void {
  if (waitMs <= 0) return;
  throw problem('provider-rate-limited', {
    detail: 'The provider said that the limit of this connection is reached; nothing was sent.',
    retryAfterSeconds: Math.ceil(waitMs / 1000),
  });
}
