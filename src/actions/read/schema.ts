import { Type, type Static } from 'typebox';
import { proposal } from '../../installations/schema.ts';
import { optionalBody } from '../../kit/optional-body-schema.ts';
import { pageOf, pageQuery } from '../../kit/paging-schema.ts';
import { readStatuses } from './words-schema.ts';

const closed = { additionalProperties: false } as const;
const time = (description: string) =>
  Type.String({ format: 'date-time', description: `${description} RFC 3339, UTC.` });
const count = (description: string) => Type.Integer({ description });

/** Which changes are read, and for whom. */
export const ReadRequest = Type.Object(
  {
    groupRef: Type.String({ minLength: 1, maxLength: 255, description: 'The group whose records are read.' }),
    mode: Type.Literal('async', { description: 'The records go to the destination of the object.' }),
    sinceTimestamp: Type.Optional(
      Type.String({ format: 'date-time', description: 'Records changed after this time. Missing: all.' }),
    ),
    untilTimestamp: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Records changed at this time or before. Missing: all until their page is read.',
      }),
    ),
  },
  { ...closed, title: 'ReadRequest' },
);
export type ReadRequest = Static<typeof ReadRequest>;

export const ReadAccepted = Type.Object(
  { operationId: Type.String() },
  { ...closed, title: 'ReadAccepted', description: 'The operation tells how far the read is.' },
);

const PauseOptions = Type.Object(
  {
    objects: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 1_000 }), {
        minItems: 1,
        maxItems: 500,
        description: "By the provider's or the builder's name. Missing: all of the installation.",
      }),
    ),
    note: Type.Optional(Type.String({ maxLength: 1_000, description: 'Shown with the pause.' })),
  },
  closed,
);
/** Which objects pause, or go on. */
export type PauseOptions = Static<typeof PauseOptions>;
export const PauseRequest = optionalBody(PauseOptions, 'PauseReadsRequest');

export const BackfillProgress = Type.Object(
  {
    installationId: Type.String(),
    objectName: Type.String(),
    operationId: Type.String(),
    recordsProcessed: count('Records that were read so far.'),
    recordsEstimatedTotal: Type.Optional(
      count('As many as there were when it began, where the provider counts.'),
    ),
    status: Type.Enum(['in_progress', 'success', 'failure']),
    expectedEndTime: Type.Optional(time('When it will have ended at its pace so far.')),
    createTime: time('When it began.'),
    updateTime: time('When it last moved.'),
  },
  { ...closed, title: 'BackfillProgress' },
);
export type BackfillProgress = Static<typeof BackfillProgress>;

const RunSummary = Type.Object(
  {
    operationId: Type.String(),
    status: Type.Enum(['in_progress', 'success', 'failure']),
    recordsProcessed: count('Records that were read.'),
    emitted: count('Records that became part of a message.'),
    delivered: count('Of them, those whose message was delivered.'),
    createTime: time('When it began.'),
  },
  { ...closed, title: 'ReadRunSummary' },
);
export type RunSummary = Static<typeof RunSummary>;

const Paused = Type.Object(
  {
    reason: Type.Enum(['object', 'installation', 'failures', 'removed'], {
      description:
        '`object`, `installation`: by a call; `failures`: by itself, after too many failures; `removed`: a deploy took the object away.',
    }),
    since: time('Since when.'),
    note: Type.Optional(Type.String()),
  },
  closed,
);

/** How changes of associations alone are looked for. */
const AssociationsState = Type.Object(
  {
    objects: Type.Array(Type.String(), { description: "The provider's names of the associated objects." }),
    schedule: Type.Optional(
      Type.String({ description: 'Cron with five fields, in UTC. Missing: they are not compared.' }),
    ),
    paused: Type.Optional(Paused),
    nextRunTime: Type.Optional(time('When they are compared next.')),
    failures: Type.Optional(count('Runs that failed one after the other.')),
    lastRun: Type.Optional(RunSummary),
  },
  { ...closed, title: 'AssociationsState' },
);

export const ReadStatus = Type.Enum([...readStatuses], {
  title: 'ReadStatus',
  description:
    'The first that is true. `removed`: a deploy took the object away while it was not paused; `paused`: it is paused, or comparing its associations is; `disabled`: its config switches it off; `failing`: its last scheduled run failed, or the last one that compared its associations; `running`: one of these runs, or its history, is under way; `idle`: none of that.',
});
export type ReadStatus = Static<typeof ReadStatus>;

/** How one object of an installation is read. */
export const ReadState = Type.Object(
  {
    status: ReadStatus,
    objectName: Type.String({ description: "The provider's name." }),
    mappedObjectName: Type.Optional(Type.String({ description: "The builder's name." })),
    schedule: Type.Optional(
      Type.String({ description: 'Cron with five fields, in UTC. Missing: on demand only.' }),
    ),
    destination: Type.Optional(Type.String()),
    disabled: Type.Boolean(),
    paused: Type.Optional(Paused),
    watermark: time('Every change until then was read by the schedule.'),
    nextRunTime: Type.Optional(time('When the next scheduled run begins.')),
    failures: count('Scheduled runs that failed one after the other.'),
    lastRun: Type.Optional(RunSummary),
    backfill: Type.Optional(RunSummary),
    associations: Type.Optional(AssociationsState),
  },
  { ...closed, title: 'ReadState' },
);
export type ReadState = Static<typeof ReadState>;

/** The same, and of which installation it is. */
export const ProjectReadState = Type.Object(
  {
    installationId: Type.String(),
    integrationId: Type.String(),
    groupRef: Type.String(),
    ...ReadState.properties,
  },
  { ...closed, title: 'ProjectReadState' },
);
export type ProjectReadState = Static<typeof ProjectReadState>;
export const ProjectReadStatePage = pageOf(ProjectReadState);

export const ProjectReadQuery = Type.Object(
  {
    groupRef: Type.Optional(Type.String({ description: 'Only of this group.' })),
    installationId: Type.Optional(Type.String({ description: 'Only of this installation.' })),
    object: Type.Optional(
      Type.String({
        maxLength: 1_000,
        description: "Only of this object: the provider's name, whatever its case.",
      }),
    ),
    status: Type.Optional(ReadStatus),
    ...pageQuery,
    // It holds the name of an object, which is up to 1,000 characters long.
    pageToken: Type.Optional(
      Type.String({ maxLength: 6_000, description: '`nextPageToken` of the page before.' }),
    ),
  },
  closed,
);
export type ProjectReadQuery = Static<typeof ProjectReadQuery>;

/** Records with these values. */
export const SearchRequest = Type.Object(
  {
    objectName: Type.String({
      minLength: 1,
      maxLength: 1_000,
      description: "The provider's or the builder's name.",
    }),
    fieldFilters: Type.Array(
      Type.Object(
        {
          fieldName: Type.String({
            minLength: 1,
            maxLength: 1_000,
            description: "The provider's or the builder's name.",
          }),
          operator: Type.Literal('eq'),
          value: Type.Union([Type.String({ maxLength: 10_000 }), Type.Boolean(), Type.Number()]),
        },
        { ...closed, title: 'SearchFilter' },
      ),
      { maxItems: 100, description: 'All of them hold. None: any records.' },
    ),
  },
  { ...closed, title: 'SearchRequest' },
);
export type SearchRequest = Static<typeof SearchRequest>;

const values = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
const delivered = {
  fields: values("By the provider's names in lower case."),
  mappedFields: values("By the builder's names."),
  raw: values('The record as the provider sent it.'),
};
const FoundRecord = Type.Object(
  { id: Type.String({ description: "The provider's id." }), ...delivered },
  { ...closed, title: 'FoundRecord' },
);

export const SearchResult = Type.Object(
  {
    results: Type.Array(FoundRecord, {
      description:
        'Those of one page of the provider that pass the filters; empty where none does of all that were looked at.',
    }),
    result: Type.Array(FoundRecord, { description: 'The same.' }),
    hasMore: Type.Optional(
      Type.Literal(true, {
        description:
          'Not all records were looked at: more that pass the filters may come behind those, also where nothing was found.',
      }),
    ),
  },
  { ...closed, title: 'SearchResult' },
);
export type SearchResult = Static<typeof SearchResult>;

/** A config that is not saved, to be tried on one record. */
export const ReadPreviewRequest = Type.Object(proposal, { ...closed, title: 'ReadPreviewRequest' });
export type ReadPreviewRequest = Static<typeof ReadPreviewRequest>;

/** One record as the config would have it delivered. */
export const ReadPreview = Type.Object(
  {
    objectName: Type.String({ description: "The builder's name of the object." }),
    rawObjectName: Type.String({ description: "The provider's name of it." }),
    recordId: Type.Optional(Type.String({ description: "The provider's id of the record." })),
    result: Type.Array(
      Type.Object(
        { ...delivered, associations: Type.Optional(values('What it is associated with, by object.')) },
        { ...closed, title: 'PreviewedRecord' },
      ),
      {
        maxItems: 1,
        description:
          'As the message of a delivery has it; empty where no record that was looked at passes the filters.',
      },
    ),
    hasMore: Type.Optional(
      Type.Literal(true, {
        description:
          'Nothing is shown, and not all records were looked at: one that passes the filters may come behind those.',
      }),
    ),
    missingFields: Type.Array(Type.String(), {
      description: 'Fields of the config that the object does not have at the provider: they are left out.',
    }),
  },
  { ...closed, title: 'ReadPreview' },
);
export type ReadPreview = Static<typeof ReadPreview>;
