import type { TSchema } from 'typebox';

/** Holds what the API document shows in place of a schema; a symbol, which neither validators nor serializers look into. */
export const shown = Symbol('shown in the API document');

/** The schema as validators and serializers compile it; the API document shows the other one. */
export function shownAs<Schema extends TSchema>(schema: Schema, other: object): Schema {
  return Object.assign(schema, { [shown]: other });
}
