import { Type, type Static } from 'typebox';

const closed = { additionalProperties: false } as const;

export const HistoryKind = Type.Enum(['operations', 'messages', 'events', 'proxyLogs', 'auditLog'], {
  title: 'HistoryKind',
  description:
    '`operations`: with their records, attempts and logs. `messages`: with their deliveries. `proxyLogs`: a line for each proxied call.',
});
export type HistoryKind = Static<typeof HistoryKind>;

export const Storage = Type.Object(
  {
    projectId: Type.String(),
    kinds: Type.Array(
      Type.Object(
        {
          kind: HistoryKind,
          keepDays: Type.Integer({ description: 'How long the operator of this service keeps them.' }),
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
