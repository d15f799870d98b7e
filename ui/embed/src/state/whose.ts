import type { Connection } from '@svc/client';

/** Who keeps the connection where this person uninstalls: it goes along only if it is their own (docs/contract.md, Configuration). */
export function keeperOf(connection: Connection | undefined, consumerRef: string): string | undefined {
  if (!connection || connection.consumer.consumerRef === consumerRef) return undefined;
  return connection.consumer.consumerName;
}
