import type { Connections } from '../connections/index.ts';
import type { Connector, Failure, ObjectDescription, ProviderClient } from '../providers/index.ts';

export type Described = { object: ObjectDescription } | { failure: Failure };

/** Descriptions of objects by connection: which fields are unique changes rarely, and must be known without delay. */
export interface Descriptions {
  /** `youngerThanMs`: what is known for longer is asked for again. */
  of(
    connection: { projectId: string; connectionId: string },
    objectName: string,
    connector: Connector,
    client: ProviderClient,
    youngerThanMs?: number,
  ): Promise<Described>;
}

const keepMs = 10 * 60_000;
const maxEntries = 1_000;

interface Asked {
  described: Promise<Described>;
  at: number;
}

/**
 * Kept in this process for ten minutes; what asks at once shares one answer. A failure is not kept, and what was known before it
 * stays: it is answered also while somebody who needs what is younger waits.
 */
export function createDescriptions(now: () => number = () => performance.now()): Descriptions {
  const kept = new Map<string, Asked>();
  const underWay = new Map<string, Asked>();

  async function keep(key: string, asked: Asked): Promise<void> {
    const described = await asked.described;
    if (underWay.get(key) === asked) underWay.delete(key);
    if ('failure' in described || asked.at < (kept.get(key)?.at ?? asked.at)) return;
    kept.delete(key);
    kept.set(key, asked);
    const oldest = kept.keys().next().value;
    if (kept.size > maxEntries && oldest !== undefined) kept.delete(oldest);
  }

  return {
    of({ projectId, connectionId }, objectName, connector, client, youngerThanMs = keepMs) {
      // After an import two projects may have connections of one id.
      const key = `${projectId}/${connectionId}/${objectName}`;
      for (const known of [kept.get(key), underWay.get(key)])
        if (known && now() - known.at < youngerThanMs) return known.described;
      const asked = { described: describe(objectName, connector, client), at: now() };
      underWay.set(key, asked);
      void keep(key, asked);
      return asked.described;
    },
  };
}

const byRoom = new WeakMap<Connections, Descriptions>();

/** Those of a process: one for all of its writes. */
export function descriptionsOf(connections: Connections): Descriptions {
  const known = byRoom.get(connections) ?? createDescriptions();
  byRoom.set(connections, known);
  return known;
}

async function describe(
  objectName: string,
  connector: Connector,
  client: ProviderClient,
): Promise<Described> {
  const missing: Failure = {
    category: 'internal',
    retryable: false,
    message: 'objects of this provider cannot be described',
  };
  if (!connector.describe) return { failure: missing };
  try {
    return await connector.describe.describe(client, objectName);
  } catch (error) {
    // The client throws for credentials that do not work, or for a moment cannot be had.
    const message = error instanceof Error ? error.message : String(error);
    return { failure: { category: 'providerDown', retryable: true, message } };
  }
}
