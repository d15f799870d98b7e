import { Type, type Static } from 'typebox';
import { shownAs } from '../../kit/document-schema.ts';
import { ProblemBody } from '../../kit/problem-schema.ts';
import { OperationFailure } from '../../operations/schema.ts';

/** Of one batch, however it came together. */
export const mostRecords = 100;

const closed = { additionalProperties: false } as const;

/** Provider field names to values; exact numbers are kept as sent. */
export const RecordFields = Type.Record(Type.String(), Type.Unknown(), {
  title: 'RecordFields',
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
      { minItems: 1, maxItems: 50 },
    ),
  },
  { ...closed, title: 'Association' },
);

const BatchItem = Type.Object(
  {
    record: RecordFields,
    associations: Type.Optional(Type.Array(AssociationInput, { maxItems: 1_000 })),
    reference: Type.Optional(
      Type.String({ maxLength: 255, description: 'Given back with the result of the record.' }),
    ),
  },
  { ...closed, title: 'BatchItem' },
);

/** The body of a write (§2.6). What depends on several fields is checked by the planner. */
export const WriteRequest = Type.Object(
  {
    groupRef: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'The group whose installation is written to.',
    }),
    type: Type.Union([
      Type.Literal('create'),
      Type.Literal('update'),
      Type.Literal('delete'),
      Type.Literal('upsert', {
        description: 'Updates the record that `upsertBy` finds, and creates it where there is none.',
      }),
    ]),
    upsertBy: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          'Of an upsert: the field that tells the records apart. The provider must keep its values unique (HubSpot: a unique property, or the email of a contact; Salesforce: an external id). Every record has a value in it.',
      }),
    ),
    mode: Type.Optional(
      Type.Union([Type.Literal('synchronous'), Type.Literal('asynchronous')], {
        description: 'Default synchronous; not used for delete.',
      }),
    ),
    record: Type.Optional(RecordFields),
    batch: Type.Optional(Type.Array(BatchItem, { minItems: 1, maxItems: mostRecords })),
    associations: Type.Optional(Type.Array(AssociationInput, { maxItems: 1_000 })),
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
          description: `Gathers single asynchronous creates and updates into batches of up to ${mostRecords}; \`operationId\` is that of the batch.`,
        },
      ),
    ),
    retryPolicy: Type.Optional(
      Type.Object({ deadlineHours: Type.Optional(Type.Integer({ minimum: 1, maximum: 48 })) }, closed),
    ),
    onUnknown: Type.Optional(
      Type.Union([Type.Literal('fail'), Type.Literal('retry')], {
        description:
          'What becomes of an asynchronous create whose answer is lost, where no unique field tells whether it was done, or the provider may hide the record and admits its value twice: `fail` (the default) reports the unknown outcome; `retry` sends it again and may make a duplicate.',
      }),
    ),
    dryRun: Type.Optional(Type.Boolean({ description: 'Answers what would be sent; sends nothing.' })),
  },
  { ...closed, title: 'WriteRequest' },
);
export type WriteRequest = Static<typeof WriteRequest>;

/** What failed, as in the operation. */
const WriteFailure = Type.Omit(OperationFailure, ['index'], { ...closed, title: 'WriteFailure' });

const reference = Type.Optional(Type.String({ description: 'As it was sent with the record.' }));
const RecordDone = Type.Object(
  {
    success: Type.Literal(true),
    recordId: Type.Optional(Type.String({ description: "The provider's id." })),
    data: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'The record as the provider tells it, or as it was written.',
      }),
    ),
    created: Type.Optional(
      Type.Boolean({
        description:
          'Of an upsert: whether the record was created. Missing where an answer was lost, and its repetition found the record.',
      }),
    ),
    reference,
  },
  { ...closed, title: 'RecordDone' },
);
const RecordFailed = Type.Object(
  { success: Type.Literal(false), errors: Type.Optional(Type.Array(WriteFailure)), reference },
  { ...closed, title: 'RecordFailed' },
);

const operationId = Type.String({ format: 'uuid' });
const warnings = Type.Optional(Type.Array(Type.Object({ message: Type.String() }, closed)));
const errors = Type.Array(WriteFailure);
const rawResponse = Type.Optional(Type.String({ description: 'What the provider said, secrets removed.' }));
const results = Type.Array(Type.Unsafe({ oneOf: [RecordDone, RecordFailed] }), {
  description: 'In the order of the request.',
});

/** The answer to what is written later. */
export const WriteAccepted = Type.Object({ operationId, warnings }, { ...closed, title: 'WriteAccepted' });

const RecordWritten = Type.Object(
  { operationId, result: RecordDone, warnings },
  { ...closed, title: 'RecordWritten' },
);
const RecordRefused = Type.Object(
  {
    operationId,
    errors,
    result: Type.Object({ success: Type.Literal(false) }, closed),
    rawResponse,
    warnings,
  },
  { ...closed, title: 'RecordRefused' },
);
const BatchWritten = Type.Object(
  { operationId, successCount: Type.Integer(), failureCount: Type.Integer(), results, errors, warnings },
  { ...closed, title: 'BatchWritten', description: 'Of a batch, whatever became of its records.' },
);

const plan = Type.Object(
  {
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
  },
  { title: 'WritePlan' },
);
/** The answer to a dry run. */
export const WritePlanned = Type.Object({ plan, warnings }, { ...closed, title: 'WritePlanned' });

const result = Type.Object({
  success: Type.Boolean(),
  recordId: RecordDone.properties.recordId,
  data: RecordDone.properties.data,
  created: RecordDone.properties.created,
  reference,
  errors: RecordFailed.properties.errors,
});

/** Everything a write may answer with status 200 or 422, in one: the form that is sent fastest. The document tells them apart. */
export const WriteResponse = shownAs(
  Type.Object({
    operationId: Type.Optional(operationId),
    result: Type.Optional(result),
    errors: Type.Optional(errors),
    warnings,
    rawResponse,
    successCount: Type.Optional(Type.Integer()),
    failureCount: Type.Optional(Type.Integer()),
    results: Type.Optional(Type.Array(result)),
    plan: Type.Optional(plan),
  }),
  {
    description:
      'Done. `RecordWritten` and `BatchWritten` answer synchronous writes, `WriteAccepted` asynchronous ones, `WritePlanned` a dry run.',
    oneOf: [RecordWritten, BatchWritten, WriteAccepted, WritePlanned],
  },
);
export type WriteResponse = Static<typeof WriteResponse>;

const WriteProblem = Type.Object(
  {
    ...ProblemBody.properties,
    errors: Type.Array(Type.Object({ message: Type.String() }), {
      description: '`detail` once more, where the other answers of a write have it.',
    }),
    operationId: Type.Optional(
      Type.String({ format: 'uuid', description: 'When the write was accepted before it failed.' }),
    ),
    category: Type.Optional(OperationFailure.properties.category),
  },
  { additionalProperties: true, title: 'WriteProblem' },
);
const problem = { 'application/problem+json': { schema: WriteProblem } };
const failed = (description: string) => shownAs(Type.Unknown(), { description, content: problem });

/** What a write answers when it was not done, by status. */
export const writeFailures = {
  400: failed('The request itself is wrong.'),
  401: failed('No credentials, or unknown ones.'),
  403: failed('The credentials may not write.'),
  404: failed('There is no such project, integration, installation or object.'),
  409: failed(
    'A request with the idempotency key is under way; or an earlier write of the record was not done in time, and nothing was sent.',
  ),
  410: failed(
    'The idempotency key stands for a write that was accepted, and of which nothing is kept any more.',
  ),
  413: failed('The body is too large.'),
  422: shownAs(Type.Unknown(), {
    description:
      'The provider refused the record, or every record of the batch; the idempotency key stands for another request; or the config, the integration or the connection does not allow the write (a problem).',
    content: {
      'application/json': { schema: { oneOf: [RecordRefused, BatchWritten] } },
      ...problem,
    },
  }),
  429: failed('Throttled; `Retry-After` says until when.'),
  502: failed('The provider gave no answer that makes sense.'),
  503: failed('Cannot be taken now; `Retry-After` says when to try again.'),
  504: failed('The provider gave no answer in time.'),
};
