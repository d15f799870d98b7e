import { Type, type Static } from 'typebox';

const eventTypes = [
  'connection.created',
  'connection.refreshed',
  'connection.updated',
  'connection.deleted',
  'connection.error',
  'installation.created',
  'installation.updated',
  'installation.deleted',
] as const;

export const EventType = Type.Enum([...eventTypes], { description: 'What happened.' });
export type EventType = Static<typeof EventType>;

export const Event = Type.Object(
  {
    id: Type.String(),
    type: EventType,
    connectionId: Type.Optional(Type.String()),
    installationId: Type.Optional(Type.String()),
    createTime: Type.String({ format: 'date-time' }),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Whom it happened to, in names and ids; `errors` of a `connection.error`; `config` and `lastConfig` of an installation.',
    }),
  },
  { $id: 'Event', description: 'Something that happened to a connection or an installation.' },
);
export type Event = Static<typeof Event>;

export const EventPage = Type.Object(
  {
    results: Type.Array(Event),
    pagination: Type.Object({ done: Type.Boolean(), nextPageToken: Type.Optional(Type.String()) }),
  },
  { $id: 'EventPage' },
);
export type EventPage = Static<typeof EventPage>;

export const EventQuery = Type.Object(
  {
    type: Type.Optional(EventType),
    connectionId: Type.Optional(Type.String({ description: 'Of this connection only.' })),
    pageSize: Type.Integer({ minimum: 1, maximum: 1_000, default: 200 }),
    pageToken: Type.Optional(
      Type.String({ maxLength: 200, description: '`nextPageToken` of the page before.' }),
    ),
  },
  { additionalProperties: false },
);
export type EventQuery = Static<typeof EventQuery>;
