import { Type } from 'typebox';

/** What the lists of masks in the schemas are held to; a mask has a few segments, each at most a name of a provider. */
export const maxMasks = 100;
export const maskLength = 4_000;

/** Names what a PATCH changes; an empty one is refused where the mask is read, which can say what it may name. */
export const UpdateMask = Type.Array(Type.String({ maxLength: maskLength }), { maxItems: maxMasks });
