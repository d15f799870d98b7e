import { Type, type Static, type TObject } from 'typebox';

/** A body that may be left away. One type list rather than a union: its faults are named by their path. */
export const optionalBody = <Options extends TObject>(options: Options, title: string) =>
  Type.Unsafe<Static<Options> | null>({
    ...options,
    title,
    type: ['object', 'null'],
    description: 'May be left away.',
  });
