import { Problem } from '../kit/problem.ts';
import type { Connector, DescribeAbility, ProviderClient } from '../providers/index.ts';

/** Undefined when the connection cannot speak to the provider now. */
export async function tolerant<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem && error.code !== 'database-unavailable' && error.code !== 'internal')
      return undefined;
    throw error;
  }
}

type Described = Awaited<ReturnType<DescribeAbility['describe']>> | undefined;

/** What the provider says of an object; undefined where it cannot be asked now. */
export type Describe = (objectName: string) => Promise<Described>;

/** No object is without fields: who says so gave no answer (`null`, `[]`). */
function known(described: Described): Described {
  if (!described || 'failure' in described) return described;
  return Object.keys(described.object.fields).length === 0 ? undefined : described;
}

/** Describes each object once, whoever asks. */
export function describedOnce({ describe }: Connector, client: ProviderClient): Describe {
  const answers = new Map<string, Promise<Described>>();
  return async (objectName) => {
    if (!describe) return undefined;
    const answer =
      answers.get(objectName) ?? tolerant(() => describe.describe(client, objectName)).then(known);
    answers.set(objectName, answer);
    return answer;
  };
}
