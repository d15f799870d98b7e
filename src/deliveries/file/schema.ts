import { Type, type Static } from 'typebox';

export const FileMetadata = Type.Object(
  {
    name: Type.String({
      pattern: '^[A-Za-z0-9_-]{1,64}$',
      description:
        'The file is `files/<project id>/<name>.ndjson` in the folder of `SVC_DATA_DIR`. Letters, digits, `_` and `-`.',
      examples: ['crm-records'],
    }),
    maxBytes: Type.Optional(
      Type.Integer({
        minimum: 1_000_000,
        maximum: 1_000_000_000,
        default: 10_000_000,
        description: 'A file that would become larger is put aside as `<name>.1.ndjson`.',
      }),
    ),
    keep: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        default: 5,
        description: 'So many are put aside; the oldest is removed.',
      }),
    ),
  },
  { additionalProperties: false, title: 'FileMetadata' },
);
export type FileMetadata = Static<typeof FileMetadata>;

export const FileSecrets = Type.Object({}, { additionalProperties: false, title: 'FileSecrets' });
