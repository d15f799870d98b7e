import type { TSchema } from 'typebox';

/** Holds what the API document shows in place of a schema. */
export const shownMark = 'x-shown-as';

/** The schema as validators and serializers compile it; the API document shows the other one. */
export function shownAs<Schema extends TSchema>(schema: Schema, shown: object): Schema {
  return Object.assign(schema, { [shownMark]: shown });
}
