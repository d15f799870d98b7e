import { Type, type Static } from 'typebox';

/** PostgreSQL cuts longer names off, in bytes. */
export const longestName = 63;

export const PostgresMetadata = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2_000,
      description:
        '`postgresql://user@host:port/database`, without a password. `sslmode` may be `verify-full` (the default), `verify-ca`, `require` or `disable`.',
      examples: ['postgresql://svc@db.example.com:5432/warehouse'],
    }),
    schema: Type.String({
      minLength: 1,
      maxLength: longestName,
      description: 'The schema that holds the tables. It must exist.',
      examples: ['crm'],
    }),
    tablePrefix: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 30,
        description: 'Stands before the name of each object in the names of the tables.',
        examples: ['hubspot_'],
      }),
    ),
  },
  { additionalProperties: false, title: 'PostgresMetadata' },
);
export type PostgresMetadata = Static<typeof PostgresMetadata>;

export const PostgresSecrets = Type.Object(
  {
    password: Type.String({
      minLength: 1,
      maxLength: 1_000,
      pattern: '^[^\\u0000]+$',
      description: 'Of the user in `metadata.url`.',
      examples: ['a-long-password'],
    }),
  },
  { additionalProperties: false, title: 'PostgresSecrets' },
);
export type PostgresSecrets = Static<typeof PostgresSecrets>;
