import type { Connections } from '../../../connections/index.ts';
import type { Target } from '../../../installations/index.ts';
import { problem } from '../../../kit/problem.ts';
import { sleep } from '../../../kit/retry.ts';
import { connectorOf, type Connector, type ObjectDescription } from '../../../providers/index.ts';
import { descriptionsOf } from '../../descriptions.ts';
import type { WritePlan } from './plan.ts';

/** A provider that does not describe the object by then refuses the field itself. */
const askForMs = 5_000;

/** The plan with the provider's own name of the field that an upsert goes by. Throws `not-unique` where records are not told apart by it. */
export async function identified(
  connections: Connections,
  { projectId, connectionId, provider }: Target,
  plan: WritePlan,
): Promise<WritePlan> {
  const connector = connectorOf(provider);
  if (plan.upsertBy === undefined || !connector?.upsert) return plan;
  const describing = describe(connections, projectId, connectionId, plan.objectName, connector);
  const over = new AbortController();
  const late = sleep(askForMs, over.signal).then(() => undefined);
  const description = await Promise.race([describing, late]);
  over.abort();
  const found = connector.upsert.identity(plan.objectName, plan.upsertBy, description);
  if ('failure' in found) throw problem('not-unique', { detail: `${found.failure.message}.` });
  return { ...plan, upsertBy: found.field.name };
}

async function describe(
  connections: Connections,
  projectId: string,
  connectionId: string,
  objectName: string,
  connector: Connector,
): Promise<ObjectDescription | undefined> {
  try {
    const client = await connections.client(projectId, connectionId);
    const described = await descriptionsOf(connections).of(connectionId, objectName, connector, client);
    return 'object' in described ? described.object : undefined;
  } catch {
    // A connection that cannot be used is refused when it is sent.
    return undefined;
  }
}
