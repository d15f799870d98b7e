import { Type, type Static } from 'typebox';
import { EventTypeName } from '../../events/schema.ts';
import { optionalPageQuery } from '../../kit/paging-schema.ts';

const closed = { additionalProperties: false } as const;
const time = Type.String({ format: 'date-time' });

export const TopicName = Type.String({
  pattern: '^[A-Za-z0-9-]{1,64}$',
  description: 'Letters, digits and dashes, at most 64; once in a project, whatever its case.',
});

/** What a request for a new topic says, and one that renames it. */
export const TopicRequest = Type.Object({ name: TopicName }, { ...closed, title: 'TopicRequest' });

export const Topic = Type.Object(
  {
    id: Type.String(),
    name: TopicName,
    projectId: Type.String(),
    createTime: time,
    updateTime: Type.Optional(time),
  },
  { ...closed, title: 'Topic', description: 'What stands between events and destinations.' },
);
export type Topic = Static<typeof Topic>;

const eventTopic = { eventType: EventTypeName, topicId: Type.String() };
export const CreateEventTopicRouteRequest = Type.Object(eventTopic, {
  ...closed,
  title: 'CreateNotificationEventTopicRouteRequest',
});
export const EventTopicRoute = Type.Object(
  { id: Type.String(), ...eventTopic, projectId: Type.String(), createTime: time },
  { ...closed, title: 'NotificationEventTopicRoute', description: 'Events of this type go to this topic.' },
);
export type EventTopicRoute = Static<typeof EventTopicRoute>;
export const EventTopicRouteQuery = Type.Object(
  {
    topicId: Type.Optional(Type.String()),
    eventType: Type.Optional(EventTypeName),
    ...optionalPageQuery,
  },
  closed,
);

const topicDestination = { topicId: Type.String(), destinationId: Type.String() };
export const CreateTopicDestinationRouteRequest = Type.Object(topicDestination, {
  ...closed,
  title: 'CreateTopicDestinationRouteRequest',
});
export const TopicDestinationRoute = Type.Object(
  { id: Type.String(), ...topicDestination, projectId: Type.String(), createTime: time },
  {
    ...closed,
    title: 'TopicDestinationRoute',
    description: 'What comes to this topic goes to this destination.',
  },
);
export type TopicDestinationRoute = Static<typeof TopicDestinationRoute>;
export const TopicDestinationRouteQuery = Type.Object(
  {
    topicId: Type.Optional(Type.String()),
    destinationId: Type.Optional(Type.String()),
    ...optionalPageQuery,
  },
  closed,
);

const NotificationRoute = Type.Object(
  {
    eventTypes: Type.Array(EventTypeName, { minItems: 1, maxItems: 100, uniqueItems: true }),
    destination: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Its name, or its id; answers have the name.',
    }),
  },
  { ...closed, title: 'NotificationRoute' },
);
export type NotificationRoute = Static<typeof NotificationRoute>;

export const SetNotificationsRequest = Type.Object(
  { routes: Type.Array(NotificationRoute, { maxItems: 100 }) },
  { ...closed, title: 'SetNotificationsRequest' },
);

export const Notifications = Type.Object(
  {
    routes: Type.Array(NotificationRoute),
    byTopics: Type.Array(NotificationRoute, {
      description: 'What the topics of the project lead to; it is changed where they are.',
    }),
  },
  {
    ...closed,
    title: 'Notifications',
    description: 'Which events are told, and where; each destination is told once.',
  },
);
export type Notifications = Static<typeof Notifications>;
