import type { DestinationKind } from './kind.ts';
import { createPostgres } from './postgres/index.ts';
import { createWebhook } from './webhook/index.ts';

/** Every kind of destination, for one process. */
export function createKinds(): DestinationKind[] {
  return [createWebhook(), createPostgres()];
}
