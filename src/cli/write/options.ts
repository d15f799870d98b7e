import type { Fields } from '../../../ui/client/src/index.ts';
import type { ConnectionOptions } from '../connection.ts';

export interface WriteOptions extends ConnectionOptions {
  group: string;
  type: 'create' | 'update' | 'upsert' | 'delete';
  by?: string;
  mode: 'synchronous' | 'asynchronous';
  data?: string;
  file?: string;
  run?: string;
  idempotencyKey?: string;
  dryRun?: boolean;
  concurrency: number;
}

/** What is written, and where. */
export interface Target {
  integration: string;
  object: string;
  groupRef: string;
  type: WriteOptions['type'];
  upsertBy?: string;
  mode: WriteOptions['mode'];
}

/** As the client takes a create, whatever the type is: what belongs together is for the server to check. */
export function requestOf(
  target: Target,
  record: Fields,
): Omit<Target, 'type' | 'upsertBy'> & { type: 'create'; record: Fields } {
  return { ...target, record } as unknown as ReturnType<typeof requestOf>;
}
