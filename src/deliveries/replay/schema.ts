import { Type, type Static } from 'typebox';
import { pageOf, pageQuery } from '../../kit/paging-schema.ts';
import { DeliveryStatus } from '../schema.ts';

const closed = { additionalProperties: false } as const;
const time = (description: string) => Type.String({ format: 'date-time', description });

const ReplayFilter = Type.Object(
  {
    destination: Type.Optional(
      Type.String({ maxLength: 64, description: 'What was for this destination: its id or name.' }),
    ),
    status: Type.Optional(DeliveryStatus),
    object: Type.Optional(
      Type.String({ maxLength: 500, description: "The name that it is delivered under, or the provider's." }),
    ),
    groupRef: Type.Optional(Type.String({ maxLength: 255 })),
    installationId: Type.Optional(Type.String({ maxLength: 64 })),
    from: Type.Optional(time('Messages created at this time or later.')),
    to: Type.Optional(time('Messages created before this time.')),
  },
  { ...closed, title: 'ReplayFilter', description: 'All that is named must hold.' },
);
export type ReplayFilter = Static<typeof ReplayFilter>;

export const ReplayRequest = Type.Object(
  {
    filter: ReplayFilter,
    destination: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'Where they are sent, by id or name: the destination of the filter unless told.',
      }),
    ),
    dryRun: Type.Optional(Type.Boolean({ description: 'Counts only.' })),
  },
  { ...closed, title: 'ReplayRequest' },
);
export type ReplayRequest = Static<typeof ReplayRequest>;

export const ReplayStarted = Type.Object(
  {
    replayId: Type.Optional(Type.String({ description: 'Missing for a `dryRun`.' })),
    count: Type.Integer({ description: 'How many messages were found.' }),
    countIsComplete: Type.Boolean({
      description: 'False where counting took too long: there may be more, and all are sent.',
    }),
  },
  { ...closed, title: 'ReplayStarted' },
);
export type ReplayStarted = Static<typeof ReplayStarted>;

export const Replay = Type.Object(
  {
    id: Type.String(),
    projectId: Type.String(),
    destinationId: Type.String({ description: 'Where the messages are sent.' }),
    filter: ReplayFilter,
    status: Type.Enum(['running', 'done', 'canceled'], {
      description: '`done`: each message was delivered there, or ran out of attempts.',
    }),
    reason: Type.Optional(Type.String({ description: 'Why it was canceled.' })),
    progress: Type.Object(
      {
        queued: Type.Integer({ description: 'Messages that were queued until now.' }),
        delivered: Type.Integer(),
        failed: Type.Integer({ description: 'Of those queued, what ran out of attempts.' }),
        pending: Type.Integer({ description: 'Of those queued, what waits for an attempt.' }),
        reachedTime: Type.Optional(time('Messages created before it were looked at.')),
      },
      closed,
    ),
    createTime: Type.String({ format: 'date-time' }),
    updateTime: Type.String({ format: 'date-time' }),
  },
  { ...closed, title: 'Replay', description: 'Messages that are sent again, the oldest first.' },
);
export type Replay = Static<typeof Replay>;

export const ReplayPage = pageOf(Replay);
export type ReplayPage = Static<typeof ReplayPage>;
export const ReplayQuery = Type.Object(pageQuery, closed);
export type ReplayQuery = Static<typeof ReplayQuery>;
