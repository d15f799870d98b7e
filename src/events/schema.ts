import { Type, type Static } from 'typebox';
import { documentPageQuery, pageOf } from '../kit/paging-schema.ts';
import { eventTypes, type EventType } from './event-kinds-schema.ts';

export type { EventType };

/** On the wire. */
export const EventTypeName = Type.Enum(eventTypes, { title: 'EventType', description: 'What happened.' });

export const Event = Type.Object(
  {
    id: Type.String(),
    type: EventTypeName,
    connectionId: Type.Optional(Type.String()),
    installationId: Type.Optional(Type.String()),
    createTime: Type.String({ format: 'date-time' }),
    data: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'Whom it happened to, in names and ids; `errors` of a `connection.error`; `config` and `lastConfig` of an installation.',
    }),
  },
  {
    title: 'Event',
    description: 'Something that happened to a connection, an installation or a destination.',
  },
);
export type Event = Static<typeof Event>;

export const EventPage = pageOf(Event);
export type EventPage = Static<typeof EventPage>;

export const EventQuery = Type.Object(
  {
    type: Type.Optional(EventTypeName),
    connectionId: Type.Optional(Type.String({ description: 'Of this connection only.' })),
    ...documentPageQuery(),
  },
  { additionalProperties: false },
);
export type EventQuery = Static<typeof EventQuery>;
