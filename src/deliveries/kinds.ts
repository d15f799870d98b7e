import type { DeclaredKind, DestinationKind, KindOptions } from './kind.ts';
import { postgres } from './postgres/index.ts';
import { webhook } from './webhook/index.ts';

/** Every kind of destination, in the order of the API document. */
export const kinds: readonly DeclaredKind[] = [webhook, postgres];

/** All of them, for one process. */
export function createKinds(options: KindOptions = {}): DestinationKind[] {
  return kinds.map(({ create }) => create(options));
}
