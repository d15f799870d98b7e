import { Type, type TSchema } from 'typebox';

/** Shapes of the columns of rows that leave a database, as `row_to_json` writes them. */

/** In lower case, as the database writes it: what is sealed is bound to this text. */
export const uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });

/** Of the years that programs and the database alike can reckon with. */
export const timestamp = Type.String({ format: 'date-time', pattern: '^[12][0-9]{3}-' });

export const orNull = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);

/** At least one character. */
export const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });

export const times = { created_at: timestamp, updated_at: timestamp } as const;
