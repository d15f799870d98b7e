import { Type } from 'typebox';
import { refuse } from '../../kit/problem.ts';

export const ExpiresAt = Type.String({
  format: 'date-time',
  description: 'When the key stops to hold; without it, never.',
});

/** A key that is over before it begins is a mistake. */
export function refusePast(name: string, expiresAt: string | null | undefined): void {
  if (!expiresAt || Date.parse(expiresAt) > Date.now()) return;
  throw refuse([{ in: 'body', name, detail: 'must be in the future', value: expiresAt }]);
}
