import { Type, type Static } from 'typebox';

const closed = { additionalProperties: false } as const;

/** Provider field names to values; exact numbers are kept as sent. */
const RecordFields = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: 5_000,
  description: 'Field names to values.',
});

export const AssociationInput = Type.Object(
  {
    to: Type.Object({ id: Type.String({ minLength: 1 }) }, closed),
    types: Type.Array(
      Type.Object(
        { associationCategory: Type.String({ minLength: 1 }), associationTypeId: Type.Integer() },
        closed,
      ),
      { minItems: 1 },
    ),
  },
  { ...closed, title: 'Association' },
);

const BatchItem = Type.Object(
  {
    record: RecordFields,
    associations: Type.Optional(Type.Array(AssociationInput)),
    reference: Type.Optional(
      Type.String({ maxLength: 255, description: 'Given back with the result of the record.' }),
    ),
  },
  { ...closed, title: 'BatchItem' },
);

/** The body of a write (specification 2.6). What depends on several fields is checked by the planner. */
export const WriteRequest = Type.Object(
  {
    groupRef: Type.String({ minLength: 1, description: 'The group whose installation is written to.' }),
    type: Type.Union([Type.Literal('create'), Type.Literal('update'), Type.Literal('delete')]),
    mode: Type.Optional(
      Type.Union([Type.Literal('synchronous'), Type.Literal('asynchronous')], {
        description: 'Default synchronous; not used for delete.',
      }),
    ),
    record: Type.Optional(RecordFields),
    batch: Type.Optional(Type.Array(BatchItem, { minItems: 1, maxItems: 100 })),
    associations: Type.Optional(Type.Array(AssociationInput)),
    headers: Type.Optional(
      Type.Array(Type.Object({ key: Type.String({ minLength: 1 }), value: Type.String() }, closed), {
        maxItems: 50,
      }),
    ),
    batchPolicy: Type.Optional(Type.Object({ allOrNone: Type.Optional(Type.Boolean()) }, closed)),
    autoBatchPolicy: Type.Optional(
      Type.Object(
        {
          maxDelayMinutes: Type.Integer({
            minimum: 1,
            maximum: 1440,
            description: 'How long a batch that this record opens gathers others at the most.',
          }),
          retryDeadlineHours: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 48,
              description: 'Default 1; of the first record, counted from when the batch leaves.',
            }),
          ),
        },
        {
          ...closed,
          description:
            'Gathers single asynchronous creates and updates into batches of up to 100; `operationId` is that of the batch.',
        },
      ),
    ),
    retryPolicy: Type.Optional(
      Type.Object({ deadlineHours: Type.Optional(Type.Integer({ minimum: 1, maximum: 48 })) }, closed),
    ),
    onUnknown: Type.Optional(
      Type.Union([Type.Literal('fail'), Type.Literal('retry')], {
        description:
          'What becomes of an asynchronous create whose answer is lost, where no unique field tells whether it was done: `fail` (the default) reports the unknown outcome; `retry` sends it again and may make a duplicate.',
      }),
    ),
    dryRun: Type.Optional(Type.Boolean({ description: 'Answers what would be sent; sends nothing.' })),
  },
  { ...closed, title: 'WriteRequest' },
);
export type WriteRequest = Static<typeof WriteRequest>;

const Failure = Type.Object({
  message: Type.String(),
  category: Type.String(),
  retryable: Type.Boolean(),
  provider: Type.Optional(
    Type.Object({
      status: Type.Optional(Type.Integer()),
      code: Type.Optional(Type.String()),
      message: Type.Optional(Type.String()),
    }),
  ),
  existingRecordId: Type.Optional(
    Type.String({ description: 'Of a conflict: the record that stands there, where the provider names it.' }),
  ),
});

const WriteResult = Type.Object({
  success: Type.Boolean(),
  recordId: Type.Optional(Type.String()),
  data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  reference: Type.Optional(Type.String()),
  errors: Type.Optional(Type.Array(Failure)),
});

/** The answer to what is written later. */
export const WriteAccepted = Type.Object(
  { operationId: Type.String({ format: 'uuid' }) },
  { ...closed, title: 'WriteAccepted' },
);

/** Everything a write may answer with status 200 or 422 (contract, Write). */
export const WriteResponse = Type.Object({
  operationId: Type.Optional(Type.String({ format: 'uuid' })),
  result: Type.Optional(WriteResult),
  errors: Type.Optional(Type.Array(Failure)),
  warnings: Type.Optional(Type.Array(Type.Object({ message: Type.String() }))),
  rawResponse: Type.Optional(Type.String()),
  successCount: Type.Optional(Type.Integer()),
  failureCount: Type.Optional(Type.Integer()),
  results: Type.Optional(Type.Array(WriteResult)),
  plan: Type.Optional(
    Type.Object({
      records: Type.Array(Type.Record(Type.String(), Type.Unknown())),
      calls: Type.Array(
        Type.Object({
          method: Type.String(),
          path: Type.String(),
          headers: Type.Optional(Type.Record(Type.String(), Type.String())),
          body: Type.Optional(Type.Unknown()),
        }),
      ),
      refused: Type.Optional(
        Type.Array(Type.Object({ index: Type.Integer(), category: Type.String(), message: Type.String() }), {
          description: 'Records that would fail without a call, by their place in the request.',
        }),
      ),
    }),
  ),
});
export type WriteResponse = Static<typeof WriteResponse>;
