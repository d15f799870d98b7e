import type { WriteRequest } from '../schema.ts';

type Mode = NonNullable<WriteRequest['mode']>;

/** A delete is synchronous, whatever it says. */
export function modeOf({ type, mode = 'synchronous' }: Pick<WriteRequest, 'type' | 'mode'>): Mode {
  return type === 'delete' ? 'synchronous' : mode;
}
