import { amqp } from './amqp/index.ts';
import { file } from './file/index.ts';
import type { DeclaredKind, DestinationKind, KindOptions } from './kind.ts';
import { postgres } from './postgres/index.ts';
import { s3 } from './s3/index.ts';
import { slack } from './slack/index.ts';
import { webhook } from './webhook/index.ts';

/** Every kind of destination, in the order of the API document. */
export const kinds: readonly DeclaredKind[] = [webhook, postgres, s3, amqp, slack, file];

/** All of them, for one process. */
export function createKinds(options: KindOptions = {}): DestinationKind[] {
  return kinds.map((kind) => kind.create(options));
}
