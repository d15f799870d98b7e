import type { Connections } from '../../../connections/index.ts';
import type { Target } from '../../../installations/index.ts';
import { problem } from '../../../kit/problem.ts';
import { sleep } from '../../../kit/retry.ts';
import { connectorOf, type Connector, type ObjectDescription } from '../../../providers/index.ts';
import { descriptionsOf } from '../../descriptions.ts';
import type { WritePlan } from './plan.ts';

/** A provider that does not describe the object by then refuses the field itself. */
const askForMs = 5_000;
/** A field may have become unique since the provider was asked; who names a wrong one all the time has it asked no more often. */
const lookAgainMs = 5_000;

/** The plan with the provider's own name of the field that an upsert goes by, and what the provider says of the object. Throws `not-unique` where records are not told apart by it. */
export async function identified(
  connections: Connections,
  { projectId, connectionId, provider }: Target,
  plan: WritePlan,
): Promise<{ plan: WritePlan; description?: ObjectDescription | undefined }> {
  const { objectName, upsertBy } = plan;
  const connector = connectorOf(provider);
  const ability = connector?.upsert;
  if (upsertBy === undefined || !ability) return { plan };
  const over = new AbortController();
  const late = sleep(askForMs, over.signal).then(() => undefined);
  const look = (youngerThanMs?: number): Promise<ObjectDescription | undefined> => {
    const of = { projectId, connectionId, objectName, youngerThanMs };
    return Promise.race([describe(connections, of, connector), late]);
  };
  const known = await look();
  let found = ability.identity(objectName, upsertBy, known);
  const again = known && 'failure' in found ? await look(lookAgainMs) : undefined;
  over.abort();
  if (again) found = ability.identity(objectName, upsertBy, again);
  if ('failure' in found) throw problem('not-unique', { detail: `${found.failure.message}.` });
  return { plan: { ...plan, upsertBy: found.field.name }, description: again ?? known };
}

interface Question {
  projectId: string;
  connectionId: string;
  objectName: string;
  youngerThanMs: number | undefined;
}

async function describe(
  connections: Connections,
  { projectId, connectionId, objectName, youngerThanMs }: Question,
  connector: Connector,
): Promise<ObjectDescription | undefined> {
  try {
    const client = await connections.client(projectId, connectionId);
    const descriptions = descriptionsOf(connections);
    const connection = { projectId, connectionId };
    const described = await descriptions.of(connection, objectName, connector, client, youngerThanMs);
    return 'object' in described ? described.object : undefined;
  } catch {
    // A connection that cannot be used is refused when it is sent.
    return undefined;
  }
}
