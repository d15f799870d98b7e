import { Type } from 'typebox';

/** Limits of a list of masks. A mask has a few segments, each at most as long as the name of a field. */
export const maxMasks = 100;
export const maskLength = 4_000;

/** The names that a PATCH changes. The reader of the mask refuses an empty one, since it knows the allowed names. */
export const UpdateMask = Type.Array(Type.String({ maxLength: maskLength }), { maxItems: maxMasks });
