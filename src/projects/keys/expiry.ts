import { Type, type TSchema } from 'typebox';
import { refuse } from '../../kit/problem.ts';

export const ExpiresAt = Type.String({
  format: 'date-time',
  description: 'When the key stops to hold; without it, never.',
});

/** In a change, null takes the value away. */
export const orNull = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(Type.Union([schema, Type.Null()]));

/** A key that is over before it begins is a mistake. */
export function refusePast(name: string, expiresAt: string | null | undefined): void {
  if (!expiresAt || Date.parse(expiresAt) > Date.now()) return;
  throw refuse([{ in: 'body', name, detail: 'must be in the future', value: expiresAt }]);
}
