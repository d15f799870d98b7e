import { Type, type Static } from 'typebox';
import { pageOf, pageQuery } from '../kit/paging-schema.ts';
import { actionTypes, categories, statuses } from './words-schema.ts';

const closed = { additionalProperties: false } as const;
const time = (description: string) => Type.String({ description: `${description} RFC 3339, UTC.` });

/** What failed, classified once (docs/contract.md, Failures). */
export const OperationFailure = Type.Object(
  {
    index: Type.Optional(Type.Integer({ description: "The record's place in the request, from 0." })),
    category: Type.Enum([...categories]),
    retryable: Type.Boolean({ description: 'Whether the same request may succeed later.' }),
    message: Type.String(),
    provider: Type.Optional(
      Type.Object(
        {
          status: Type.Optional(Type.Integer()),
          code: Type.Optional(Type.String()),
          message: Type.Optional(Type.String()),
        },
        { ...closed, description: 'What the provider answered, secrets removed.' },
      ),
    ),
    existingRecordId: Type.Optional(
      Type.String({
        description:
          'Of a conflict: the record that stands there, where the provider names it. Of an unknown outcome: the record that it may have made.',
      }),
    ),
  },
  { ...closed, title: 'OperationFailure' },
);
export type OperationFailure = Static<typeof OperationFailure>;

const Retry = Type.Object(
  {
    attempts: Type.Integer({ description: 'Attempts whose end is known.' }),
    lastAttempt: Type.Optional(time('When the last attempt ended.')),
    nextAttempt: Type.Optional(
      time(
        'When the next attempt is due; it is later while the provider takes no calls of the connection (`rateBudget.closedUntil`).',
      ),
    ),
  },
  closed,
);

/** An operation on the wire (§2.7). */
export const Operation = Type.Object(
  {
    id: Type.String(),
    projectId: Type.String(),
    integrationId: Type.String(),
    installationId: Type.String(),
    groupRef: Type.Optional(
      Type.String({ description: 'The group that it is of, also once its installation was deleted.' }),
    ),
    configId: Type.String(),
    actionType: Type.String({ description: '`write` or `read`.' }),
    status: Type.Enum([...statuses], {
      description:
        'Moves once, from `in_progress`. A batch with at least one success is a `success`; `counts` tells how many were not.',
    }),
    result: Type.Optional(
      Type.String({ description: 'A sentence that starts with the object in brackets.' }),
    ),
    resource: Type.String({ description: 'The object that the operation concerns.' }),
    metadata: Type.Object(
      {
        objects: Type.Array(Type.String()),
        retry: Retry,
        successfulRecordIds: Type.Optional(Type.Array(Type.String())),
        progress: Type.Optional(
          Type.Object(
            {
              installationId: Type.String(),
              objectName: Type.String(),
              operationId: Type.String(),
              recordsProcessed: Type.Integer({ description: 'Records that were read so far.' }),
              recordsEstimatedTotal: Type.Optional(
                Type.Integer({
                  description: 'As many as there were when it began, where the provider counts.',
                }),
              ),
            },
            { ...closed, description: 'Of a read.' },
          ),
        ),
        read: Type.Optional(
          Type.Object(
            {
              type: Type.Enum(['scheduled', 'backfill', 'triggered', 'associations'], {
                description: '`associations`: a run that looks for changes of associations alone.',
              }),
              since: Type.Optional(time('Changed after this time; missing: since ever.')),
              until: time('Changed at this time or before.'),
              pages: Type.Integer(),
              emitted: Type.Integer({ description: 'Records that became part of a message.' }),
              delivered: Type.Integer({ description: 'Of them, those whose message was delivered.' }),
            },
            { ...closed, description: 'Of a read: its range, and what became of the records.' },
          ),
        ),
      },
      closed,
    ),
    errors: Type.Array(OperationFailure, {
      description:
        'What failed; while `in_progress`, also how the last attempt of a record ended that is tried again.',
    }),
    counts: Type.Optional(
      Type.Object(
        {
          total: Type.Integer(),
          succeeded: Type.Integer(),
          failed: Type.Integer({
            description: 'Known not to have been done; of a read, those whose delivery is not tried again.',
          }),
          unknown: Type.Integer({ description: 'Sent, and nobody knows what became of it.' }),
        },
        { ...closed, description: 'Of the records of a write, or of the deliveries of those of a read.' },
      ),
    ),
    unresolved: Type.Optional(
      Type.Literal(true, {
        description:
          'There while it holds a record of unknown outcome of which nobody has said what became (`:resolve`).',
      }),
    ),
    retryOf: Type.Optional(
      Type.String({ description: 'The operation whose failed records this one sends again.' }),
    ),
    retriedBy: Type.Optional(
      Type.String({ description: 'The operation that sends the failed records of this one again.' }),
    ),
    createTime: time('When it was accepted.'),
    updateTime: time('When it last changed.'),
  },
  { ...closed, title: 'Operation' },
);
export type Operation = Static<typeof Operation>;

export const OperationPage = pageOf(Operation);
export type OperationPage = Static<typeof OperationPage>;

/** Which operations of a project; all of it holds. */
export const operationFilter = {
  status: Type.Optional(Type.Enum([...statuses])),
  errorCategory: Type.Optional(
    Type.Enum([...categories], {
      description:
        'With a failure of this category; of those that ended, unless `status` says `in_progress`.',
    }),
  ),
  partlyDone: Type.Optional(
    Type.Boolean({
      description:
        'With `true` only those that are a `success` although some of their records were not done, or nobody knows; of a read, records whose delivery is not tried again.',
    }),
  ),
  object: Type.Optional(
    Type.String({
      maxLength: 500,
      description: 'Of this object, by the name that the provider knows it by.',
    }),
  ),
  groupRef: Type.Optional(Type.String()),
  installationId: Type.Optional(Type.String()),
  actionType: Type.Optional(Type.Enum([...actionTypes])),
  from: Type.Optional(Type.String({ format: 'date-time', description: 'Accepted at this time or later.' })),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'Accepted before this time.' })),
};

export const OperationQuery = Type.Object(
  {
    ...operationFilter,
    unresolved: Type.Optional(
      Type.Boolean({
        description:
          'With `true` only those that hold a record of unknown outcome of which nobody has said what became.',
      }),
    ),
    ...pageQuery,
  },
  closed,
);
export type OperationQuery = Static<typeof OperationQuery>;

/** One line of the log of an operation. */
export const OperationLog = Type.Object(
  {
    timestamp: time('When it happened.'),
    severity: Type.Enum(['info', 'warning', 'error']),
    message: Type.Object(
      {
        msg: Type.String(),
        error: Type.Optional(Type.String()),
        operation_id: Type.String(),
        details: Type.Record(Type.String(), Type.String()),
      },
      closed,
    ),
  },
  { ...closed, title: 'OperationLog' },
);
export type OperationLog = Static<typeof OperationLog>;

const headers = Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]));
const keptBody = (whose: string) => ({
  body: Type.Optional(
    Type.String({ description: `The beginning of ${whose}, 16,384 characters at the most.` }),
  ),
  bytes: Type.Integer({ description: 'How long all of it is.' }),
});

/** One request that was sent to the provider for an operation, and what came back. */
export const OperationExchange = Type.Object(
  {
    id: Type.String(),
    time: time('When it began.'),
    attempt: Type.Integer({ description: 'The attempt of the operation, from 1.' }),
    request: Type.Object(
      {
        method: Type.String(),
        path: Type.String({ description: 'Below the address of the connection.' }),
        headers: Type.Optional(headers),
        ...keptBody('what was sent'),
      },
      { ...closed, description: 'Without the credential of the connection.' },
    ),
    answer: Type.Optional(
      Type.Object(
        { status: Type.Integer(), headers, ...keptBody('what came back') },
        {
          ...closed,
          description:
            'Missing when none came. Headers are those that explain it; secrets are removed. The body of a good answer to a read is not kept.',
        },
      ),
    ),
    fault: Type.Optional(Type.String({ description: 'Why there is no answer.' })),
    totalMs: Type.Integer(),
  },
  { ...closed, title: 'OperationExchange' },
);
export type OperationExchange = Static<typeof OperationExchange>;

export const OperationExchangePage = pageOf(OperationExchange);
export type OperationExchangePage = Static<typeof OperationExchangePage>;

/** What became of one record of an operation. */
export const OperationRecord = Type.Object(
  {
    index: Type.Integer({ description: "The record's place in the request, from 0." }),
    reference: Type.Optional(Type.String({ description: 'As the caller sent it.' })),
    recordId: Type.Optional(Type.String({ description: "The provider's id." })),
    created: Type.Optional(
      Type.Boolean({ description: 'Of an upsert: whether the record was created, where that is known.' }),
    ),
    success: Type.Optional(Type.Boolean({ description: 'Absent while the record has no outcome.' })),
    errors: Type.Array(OperationFailure, {
      description: 'How its last attempt failed; it stays when the record is resolved.',
    }),
    resolution: Type.Enum(['pending', 'applied', 'notApplied', 'unknown'], {
      description:
        'What is known of it: from the provider, or, for a record of unknown outcome, from who resolved it.',
    }),
    lookedUpBy: Type.Optional(
      Type.String({
        description:
          'The unique field by which the record was looked up at the provider after an answer was lost.',
      }),
    ),
    resolvedBy: Type.Optional(
      Type.String({ description: 'Whose key resolved it by hand, such as `apiKey:k1`.' }),
    ),
    resolvedAt: Type.Optional(time('When it was resolved by hand.')),
  },
  { ...closed, title: 'OperationRecord' },
);
export type OperationRecord = Static<typeof OperationRecord>;

/** One record with what was asked for. */
export const WrittenRecord = Type.Object(
  {
    ...OperationRecord.properties,
    content: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'What was asked to be written: `fields` by the names of the provider, the `id` of a record that was updated or deleted, `key` and `onUpdate` of an upsert, `associations`.',
    }),
  },
  { ...closed, title: 'WrittenRecord' },
);
export type WrittenRecord = Static<typeof WrittenRecord>;

export const OperationRecordPage = pageOf(OperationRecord);
export type OperationRecordPage = Static<typeof OperationRecordPage>;

const resolution = Type.Enum(['applied', 'notApplied']);
/** Of a provider's record id; the longest that is known has a quarter of it. */
export const maxRecordIdLength = 255;

const recordId = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: maxRecordIdLength,
    description: "The provider's id of what was applied.",
  }),
);

/** What became of records of unknown outcome: of those named, or the same of all. */
export const ResolveRequest = Type.Object(
  {
    records: Type.Optional(
      Type.Array(Type.Object({ index: Type.Integer({ minimum: 0 }), resolution, recordId }, closed), {
        minItems: 1,
        maxItems: 1_000,
      }),
    ),
    resolution: Type.Optional(resolution),
    recordId,
  },
  { ...closed, title: 'ResolveOperationRequest' },
);
export type ResolveRequest = Static<typeof ResolveRequest>;

/** What somebody found out about one record. */
export type Resolution = NonNullable<ResolveRequest['records']>[number];

export const ResolvedRecords = Type.Object(
  { records: Type.Array(OperationRecord) },
  { ...closed, title: 'ResolvedRecords' },
);
