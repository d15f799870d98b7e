import { Type, type Static } from 'typebox';

const closed = { additionalProperties: false } as const;

export const SearchQuery = Type.Object(
  {
    q: Type.String({
      minLength: 1,
      maxLength: 2_000,
      pattern: String.raw`\S`,
      description:
        'An id of anything, or how it begins (8 digits at least), also a text that holds whole ids, four at the most, such as an address or a line of a log; the beginning of a group reference, of a consumer reference, of a name, or of a member’s e-mail; the id of a key; the provider’s id of a record, whole.',
    }),
  },
  closed,
);
export type SearchQuery = Static<typeof SearchQuery>;

export const foundTypes = [
  'operation',
  'delivery',
  'connection',
  'installation',
  'group',
  'consumer',
  'integration',
  'revision',
  'destination',
  'topic',
  'replay',
  'event',
  'proxyCall',
  'apiKey',
  'jwtKey',
  'providerApp',
  'connectLink',
  'person',
  'auditEntry',
] as const;

const SearchHit = Type.Object(
  {
    type: Type.Enum([...foundTypes]),
    id: Type.String({ description: 'Of a group or a consumer its reference.' }),
    name: Type.Optional(
      Type.String({
        description: 'As people know it; of an operation its object, and the record id that it was found by.',
      }),
    ),
    groupRef: Type.Optional(Type.String()),
    integrationId: Type.Optional(Type.String()),
    installationId: Type.Optional(Type.String()),
    operationId: Type.Optional(Type.String()),
  },
  { ...closed, title: 'SearchHit' },
);

export const SearchHits = Type.Object({ hits: Type.Array(SearchHit) }, { ...closed, title: 'SearchHits' });
export type SearchHits = Static<typeof SearchHits>;

export const ranges = ['hour', 'day', 'week', 'month'] as const;

export const OverviewQuery = Type.Object(
  { range: Type.Enum([...ranges], { default: 'day', description: 'Of `activity`; a month is 30 days.' }) },
  closed,
);

export const attentionKinds = [
  'unknownOutcomes',
  'badConnections',
  'unhealthyInstallations',
  'deadLetters',
  'disabledDestinations',
  'failingDestinations',
  'failingReads',
  'pausedReads',
] as const;

const Attention = Type.Object(
  {
    kind: Type.Enum([...attentionKinds]),
    count: Type.Integer({ description: '1,000 stands for as many or more.' }),
    filter: Type.Record(Type.String(), Type.String(), {
      description: 'The query of the list that shows them.',
    }),
  },
  { ...closed, title: 'Attention' },
);
export type Attention = Static<typeof Attention>;

const counts = Type.Array(Type.Integer());
const durations = Type.Array(Type.Union([Type.Integer(), Type.Null()]));

const EndedSeries = Type.Object(
  {
    succeeded: counts,
    partlyDone: Type.Array(Type.Integer(), {
      description:
        'Of them, writes of several records of which some were not done, or nobody knows; `partlyDone=true` lists them.',
    }),
    failed: counts,
    p50Ms: durations,
    p95Ms: durations,
  },
  {
    ...closed,
    title: 'EndedSeries',
    description:
      'By step, in the order of `times`: how many ended well and otherwise, and how long they took from acceptance to end, to within a fifth.',
  },
);
export type EndedSeries = Static<typeof EndedSeries>;

export const Activity = Type.Object(
  {
    stepSeconds: Type.Integer(),
    times: Type.Array(Type.Integer(), {
      description: 'When each step begins, in seconds since the epoch; the last one goes on.',
    }),
    writes: EndedSeries,
    reads: EndedSeries,
    deliveries: EndedSeries,
    failures: Type.Record(Type.String(), Type.Integer(), {
      description: 'Writes and reads that failed in all of the time, by category.',
    }),
  },
  { ...closed, title: 'Activity' },
);
export type Activity = Static<typeof Activity>;

export const Overview = Type.Object(
  {
    attention: Type.Array(Attention, {
      description: 'What needs somebody, the worst first; what is well is not in it.',
    }),
    oldestQueuedWrite: Type.Optional(
      Type.Object(
        {
          operationId: Type.String(),
          seconds: Type.Number({ description: 'Since it was accepted.' }),
          count: Type.Integer({ description: 'How many writes wait, this one among them.' }),
          countIsComplete: Type.Boolean({ description: 'Otherwise there may be more.' }),
        },
        closed,
      ),
    ),
    closedBudgets: Type.Array(
      Type.Object(
        {
          connectionId: Type.String(),
          groupRef: Type.String(),
          provider: Type.String(),
          lockedOut: Type.Boolean(),
          closedUntil: Type.String({ format: 'date-time' }),
        },
        closed,
      ),
      {
        description:
          'Connections whose provider said that their limit is reached, for now; twenty at the most.',
      },
    ),
    activity: Activity,
  },
  { ...closed, title: 'Overview' },
);
export type Overview = Static<typeof Overview>;
