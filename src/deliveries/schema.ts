import { Type, type Static, type TObject, type TSchema } from 'typebox';
import { EventTypeName } from '../events/schema.ts';
import { optionalBody } from '../kit/optional-body-schema.ts';
import { shownAs } from '../kit/document-schema.ts';
import { optionalPageQuery, pageOf, pageQuery } from '../kit/paging-schema.ts';
import { UpdateMask } from '../kit/update-mask-schema.ts';
import { destinationNameForm } from '../projects/manifest/schema.ts';
import { deliveryStatuses } from './words-schema.ts';

const closed = { additionalProperties: false } as const;
const time = (description?: string) =>
  Type.String({ format: 'date-time', ...(description === undefined ? {} : { description }) });

export const DestinationName = Type.String({
  pattern: destinationNameForm,
  description:
    'Letters, digits and dashes, at most 64, and not in the form of an id; once in a project, whatever its case.',
});

/** A destination on the wire. What a kind asks for is checked by the kind, which names each path; the document shows the kinds. */
export function destinationSchemas(kinds: readonly Shape[]) {
  const of = (shapes: readonly TObject[]) =>
    shownAs(Type.Record(Type.String(), Type.Unknown(), { maxProperties: 100 }), Type.Union([...shapes]));
  const metadata = kinds.map((kind) => kind.metadata);
  const secrets = kinds.map((kind) => kind.secrets);
  const types = kinds.map(({ type }) => type);
  const type = Type.Enum(types, { title: 'DestinationType' });
  const some = (shapes: readonly TObject[]) => of(shapes.map((shape) => Type.Partial(shape)));
  return {
    Destination: destinationSchema(type, of(metadata), of(secrets)),
    CreateDestinationRequest: Type.Object(
      { name: DestinationName, type, metadata: of(metadata), secrets: Type.Optional(of(secrets)) },
      { ...closed, title: 'CreateDestinationRequest' },
    ),
    UpdateDestinationRequest: Type.Object(
      {
        updateMask: UpdateMask,
        destination: Type.Object(
          {
            name: Type.Optional(DestinationName),
            metadata: Type.Optional(some(metadata)),
            secrets: Type.Optional(some(secrets)),
          },
          closed,
        ),
      },
      { ...closed, title: 'UpdateDestinationRequest' },
    ),
  };
}

interface Shape {
  type: string;
  metadata: TObject;
  secrets: TObject;
}

type Schemas = ReturnType<typeof destinationSchemas>;
export type Destination = Static<Schemas['Destination']>;
export type CreateDestinationRequest = Static<Schemas['CreateDestinationRequest']>;
export type UpdateDestinationRequest = Static<Schemas['UpdateDestinationRequest']>;

function destinationSchema<Kind extends TSchema, Members extends TSchema>(
  type: Kind,
  metadata: Members,
  secrets: Members,
) {
  return Type.Object(
    {
      id: Type.String(),
      projectId: Type.String(),
      name: Type.String(),
      type,
      metadata,
      status: Type.Enum(['active', 'disabled'], {
        description: '`disabled`: what is to be delivered there waits until it is enabled.',
      }),
      reason: Type.Optional(Type.String({ description: 'Why it is disabled.' })),
      failingSince: Type.Optional(time('Nothing succeeded since this failure.')),
      secrets: Type.Optional(secrets),
      createTime: time(),
      updateTime: time(),
    },
    { ...closed, title: 'Destination', description: 'Where a builder wants things delivered.' },
  );
}

export const DestinationsQuery = Type.Object(
  {
    state: Type.Optional(
      Type.Enum(['active', 'failing', 'disabled'], {
        description:
          '`failing`: active, and nothing succeeded there since a failure (`failingSince`). `active`: active, and not failing.',
      }),
    ),
    ...optionalPageQuery,
  },
  closed,
);

const RotateOptions = Type.Object(
  {
    overlapHours: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 168,
        default: 24,
        description: 'So long the secret of before signs, too.',
      }),
    ),
  },
  closed,
);
export const RotateDestinationRequest = optionalBody(RotateOptions, 'RotateDestinationRequest');

export const DeleteDestinationQuery = Type.Object(
  {
    cancelPending: Type.Boolean({
      default: false,
      description: 'When true, deliveries that wait for the destination are canceled.',
    }),
  },
  closed,
);

export const DestinationTest = Type.Object(
  {
    success: Type.Boolean(),
    messageId: Type.String({ description: 'The `webhook-id` of what was sent.' }),
    status: Type.Optional(Type.Integer({ description: 'The HTTP status of the answer.' })),
    latencyMs: Type.Integer(),
    answer: Type.Optional(Type.String({ description: 'The first 4 KiB of it.' })),
    error: Type.Optional(Type.String()),
  },
  { ...closed, title: 'DestinationTest', description: 'What became of a message that was sent to try it.' },
);
export type DestinationTest = Static<typeof DestinationTest>;

export const DeliveryStatus = Type.Enum([...deliveryStatuses], {
  title: 'DeliveryStatus',
  description:
    '`pending`: waits for its first or its next attempt. `failed`: no further attempt is made by itself. `canceled`: the destination was deleted, its replay was canceled, or the project does not keep the message any longer (`keepDays.messages`).',
});
export type DeliveryStatus = Static<typeof DeliveryStatus>;

const deliveryMembers = {
  id: Type.String({ description: 'The `webhook-id`.' }),
  projectId: Type.String(),
  destinationId: Type.String(),
  notificationType: Type.Optional(EventTypeName),
  installationId: Type.Optional(Type.String()),
  groupRef: Type.Optional(Type.String()),
  objectName: Type.Optional(Type.String({ description: 'Of records; a notification has none.' })),
  operationId: Type.Optional(Type.String({ description: 'Of records: the read that they came with.' })),
  status: DeliveryStatus,
  numRecords: Type.Integer(),
  bytes: Type.Integer({ description: 'Of the body.' }),
  attemptCount: Type.Integer(),
  httpStatus: Type.Optional(Type.Integer({ description: 'Of the latest attempt.' })),
  error: Type.Optional(Type.String({ description: 'Of the latest attempt.' })),
  createTime: time(),
  lastAttemptTime: Type.Optional(time()),
  nextAttemptTime: Type.Optional(time()),
};

export const Delivery = Type.Object(deliveryMembers, {
  ...closed,
  title: 'Delivery',
  description: 'A message and what became of it at its destination.',
});
export type Delivery = Static<typeof Delivery>;
export const DeliveryPage = pageOf(Delivery);
export type DeliveryPage = Static<typeof DeliveryPage>;

const DeliveryAttempt = Type.Object(
  {
    time: time('When it began.'),
    status: Type.Optional(Type.Integer({ description: 'The HTTP status of the answer.' })),
    latencyMs: Type.Integer(),
    answer: Type.Optional(Type.String({ description: 'The first 4 KiB of it.' })),
    error: Type.Optional(Type.String()),
  },
  { ...closed, title: 'DeliveryAttempt' },
);

export const DeliveryDetail = Type.Object(
  {
    ...deliveryMembers,
    attempts: Type.Array(DeliveryAttempt, { description: 'The latest twenty, oldest first.' }),
    body: Type.Optional(
      Type.String({ description: 'With `includeBody`: the text that is signed and sent.' }),
    ),
  },
  { ...closed, title: 'DeliveryDetail' },
);
export type DeliveryDetail = Static<typeof DeliveryDetail>;

export const DeliveryQuery = Type.Object(
  {
    destination: Type.Optional(Type.String({ description: 'Of this destination only: its id or name.' })),
    status: Type.Optional(DeliveryStatus),
    object: Type.Optional(
      Type.String({
        maxLength: 500,
        description: "Of this object only: the name that it is delivered under, or the provider's.",
      }),
    ),
    groupRef: Type.Optional(Type.String()),
    installationId: Type.Optional(Type.String()),
    operationId: Type.Optional(Type.String()),
    from: Type.Optional(time('Created at this time or later.')),
    to: Type.Optional(time('Created before this time.')),
    ...pageQuery,
  },
  closed,
);
export type DeliveryQuery = Static<typeof DeliveryQuery>;

export const MessageResult = Type.Array(Type.Record(Type.String(), Type.Unknown()), {
  title: 'MessageResult',
  description: 'The `result` that the message would hold.',
});
