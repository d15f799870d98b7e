import { Type, type Static } from 'typebox';

const closed = { additionalProperties: false } as const;

export const HistoryKind = Type.Enum(
  [
    'operations',
    'exchanges',
    'messages',
    'events',
    'proxyLogs',
    'readLinks',
    'connectLinks',
    'customers',
    'auditLog',
  ],
  {
    title: 'HistoryKind',
    description:
      '`operations`: with their records, attempts and logs. `exchanges`: what providers were sent and answered. `messages`: with their deliveries. `proxyLogs`: a line for each proxied call. `readLinks`: which records were associated with which, until a week after a record is gone. `connectLinks`: kept until a week after they expire. `customers`: names of groups and people without a connection, kept until they are erased.',
  },
);
export type HistoryKind = Static<typeof HistoryKind>;

export const Storage = Type.Object(
  {
    projectId: Type.String(),
    kinds: Type.Array(
      Type.Object(
        {
          kind: HistoryKind,
          keepDays: Type.Integer({ description: 'How long the operator of this service keeps them.' }),
          projectKeepDays: Type.Optional(
            Type.Integer({
              description:
                'How long the project wants them kept (`keepDays` of the project), where it says so. What is older is counted here as long as it is on disk.',
            }),
          ),
          rows: Type.Integer(),
          bytes: Type.Integer({ description: 'About, as they are stored: without indexes, compressed.' }),
          isEstimate: Type.Boolean({ description: 'There are more than are counted (50,000).' }),
        },
        closed,
      ),
    ),
  },
  { ...closed, title: 'Storage', description: 'What a project holds.' },
);
export type Storage = Static<typeof Storage>;

export const ErasureRequest = Type.Object(
  {
    groupRef: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'Erases what was kept of this group.' }),
    ),
    wholeProject: Type.Optional(
      Type.Boolean({ description: 'Erases what was kept of all groups, and of none.' }),
    ),
  },
  { ...closed, title: 'ErasureRequest' },
);
export type ErasureRequest = Static<typeof ErasureRequest>;

export const Erasure = Type.Object(
  {
    id: Type.String(),
    projectId: Type.String(),
    groupRef: Type.Optional(Type.String()),
    status: Type.Enum(['running', 'done']),
    removed: Type.Partial(Type.Record(HistoryKind, Type.Integer()), {
      ...closed,
      description: 'Rows that are gone, by kind.',
    }),
    unfinished: Type.Integer({
      description: 'Operations that stay because they are under way: erase again when they have ended.',
    }),
    note: Type.Optional(
      Type.String({ description: 'That nothing of the group was found, once it is done.' }),
    ),
    createTime: Type.String({ format: 'date-time' }),
    updateTime: Type.String({ format: 'date-time' }),
  },
  {
    ...closed,
    title: 'Erasure',
    description: 'The removal of what was made until it was asked for.',
  },
);
export type Erasure = Static<typeof Erasure>;
