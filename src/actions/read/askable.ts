import type { Caller, Connections } from '../../connections/index.ts';
import type { Target } from '../../installations/index.ts';
import { problem, type Problem } from '../../kit/problem.ts';
import {
  connectorOf,
  type Failure,
  type ObjectDescription,
  type ProviderClient,
  type ReadAbility,
} from '../../providers/index.ts';
import { descriptionsOf, type Described } from '../descriptions.ts';

/** All that it takes to ask a provider for the records of an object. */
export interface Askable {
  read: ReadAbility;
  client: ProviderClient;
  object: ObjectDescription;
  /** Milliseconds until it may be asked; 0: now. */
  waitMs(): number;
}

/** Why it is not asked: its rate budget, or what else. */
export type NotNow = { waitMs: number } | { failure: Failure };

type Asked = Pick<Target, 'projectId' | 'connectionId' | 'provider'>;

interface Asking {
  caller: Caller;
  /** Of the client that asks for metadata. */
  watch(client: ProviderClient): ProviderClient;
  /** Whether the object has all that is asked for. The provider is asked again where it seems not to: it may have got it since. */
  hasAll(object: ObjectDescription): boolean;
  /** Since when that is asked for: what is known from after it counts. */
  sinceMs: number;
}

/** Nor is what is younger asked for again. */
const lookAgainMs = 5_000;

/** Throws the problems of a connection that cannot be used. */
export async function askable(
  { connections }: { connections: Connections },
  { projectId, connectionId, provider }: Asked,
  objectName: string,
  priority: Parameters<Connections['budget']['waitMs']>[2],
  { caller, watch, hasAll, sinceMs = 0 }: Partial<Asking> = {},
): Promise<{ ready: Askable } | { not: NotNow }> {
  const connector = connectorOf(provider);
  if (!connector?.read) {
    const message = `records of the provider ${provider} cannot be read`;
    return { not: { failure: { category: 'validation', retryable: false, message } } };
  }
  const client = await connections.client(projectId, connectionId, caller);
  const { budget } = connections;
  await budget.ready();
  const nowMs = await budget.surelyWaitMs(projectId, connectionId, priority);
  if (nowMs > 0) return { not: { waitMs: nowMs } };
  const waitMs = (): number => budget.waitMs(projectId, connectionId, priority);
  const asking = watch?.(client) ?? client;
  const look = (youngerThanMs?: number): Promise<Described> =>
    descriptionsOf(connections).of({ projectId, connectionId }, objectName, connector, asking, youngerThanMs);
  const known = await look();
  const isShort = 'object' in known && hasAll?.(known.object) === false;
  const again = isShort ? await look(Math.max(lookAgainMs, sinceMs)) : known;
  // What is known suffices where nothing newer can be had.
  const described = 'failure' in again ? known : again;
  if ('failure' in described) return { not: described };
  return { ready: { read: connector.read, client, object: described.object, waitMs } };
}

/** What changed a moment ago counts, by whatever clock the provider has. */
export const anyTimeMs = 10 * 365 * 24 * 3_600_000;

/** For somebody who waits: throws the problem of what keeps the provider from being asked. */
export async function askableNow(
  deps: { connections: Connections },
  target: Asked,
  objectName: string,
  problemOf: (failure: Failure) => Problem,
): Promise<Askable> {
  const found = await askable(deps, target, objectName, 'interactive');
  if ('ready' in found) return found.ready;
  if ('failure' in found.not) throw problemOf(found.not.failure);
  throw problem('provider-rate-limited', { retryAfterSeconds: Math.ceil(found.not.waitMs / 1000) });
}
