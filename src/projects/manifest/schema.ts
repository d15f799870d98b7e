import { Type, type Static, type TSchema } from 'typebox';
import { shownName } from '../../kit/reference-schema.ts';

const closed = { additionalProperties: false } as const;
const most = { integrations: 1_000, objects: 1_000, fields: 10_000, events: 1_000 };
const name = (description: string) => Type.String({ minLength: 1, maxLength: 255, description });
/** What a destination may be called, wherever it is named. */
export const destinationNameForm = '^[A-Za-z0-9-]{1,64}$';
const destinationName = (description: string) =>
  Type.String({
    minLength: 1,
    pattern: destinationNameForm,
    description: `${description} Its name: letters, digits and dashes, at most 64.`,
  });
const switchedOn = (description: string) =>
  Type.Object({ enabled: Type.Literal('always') }, { ...closed, description });

/** One field of a read object: a provider field, or (without `fieldName`) a mapping that the end user chooses. */
export const ManifestField = Type.Object(
  {
    fieldName: Type.Optional(
      name("The provider's field, or a nested path such as `$['properties']['email']`."),
    ),
    mapToName: Type.Optional(shownName(255, "The builder's name for the field, also as a nested path.")),
    mapToDisplayName: Type.Optional(Type.String()),
    prompt: Type.Optional(Type.String({ description: 'Shown where the end user chooses the field.' })),
    default: Type.Optional(name('The provider field chosen beforehand, until the object is configured.')),
  },
  { ...closed, title: 'ManifestField' },
);
export type ManifestField = Static<typeof ManifestField>;

const Backfill = Type.Object(
  {
    defaultPeriod: Type.Object(
      {
        days: Type.Optional(Type.Integer({ minimum: 0, maximum: 36_500 })),
        fullHistory: Type.Optional(Type.Boolean()),
      },
      closed,
    ),
  },
  { ...closed, title: 'ManifestBackfill' },
);

/** What the records that are read are associated with, and when that is compared. */
const ManifestAssociations = Type.Object(
  {
    objects: Type.Array(name("The provider's name of an associated object."), { minItems: 1, maxItems: 20 }),
    schedule: Type.Optional(
      Type.String({
        description:
          'When changes of associations alone are looked for: cron with five fields, in UTC, an hour apart or more. Missing: once a day where the object has a schedule.',
      }),
    ),
  },
  { ...closed, title: 'ManifestAssociations' },
);

const Delivery = Type.Object(
  {
    mode: Type.Optional(Type.Union([Type.Literal('auto'), Type.Literal('onRequest')])),
    pageSize: Type.Optional(Type.Integer({ minimum: 50, maximum: 500 })),
  },
  { ...closed, title: 'ManifestDelivery', deprecated: true },
);

/** One object that is read. */
export const ManifestReadObject = Type.Object(
  {
    objectName: name("The provider's name of the object."),
    destination: Type.Optional(destinationName('The destination that receives the records.')),
    schedule: Type.Optional(
      Type.String({ description: 'Cron with five fields, in UTC, ten minutes apart or more.' }),
    ),
    enabled: Type.Optional(
      Type.Literal('always', { description: 'Read for every installation, configured or not.' }),
    ),
    mapToName: Type.Optional(shownName(255, "The builder's name for the object.")),
    mapToDisplayName: Type.Optional(Type.String()),
    requiredFields: Type.Optional(Type.Array(ManifestField, { maxItems: most.fields })),
    optionalFields: Type.Optional(Type.Array(ManifestField, { maxItems: most.fields })),
    optionalFieldsAuto: Type.Optional(Type.Literal('all')),
    backfill: Type.Optional(Backfill),
    deletedRecords: Type.Optional(
      switchedOn('Records that were deleted at the provider are delivered, too, with `deleted: true`.'),
    ),
    associations: Type.Optional(ManifestAssociations),
    delivery: Type.Optional(Delivery),
  },
  { ...closed, title: 'ManifestReadObject' },
);
export type ManifestReadObject = Static<typeof ManifestReadObject>;

/** One object that may be written (§2.1). */
export const ManifestWriteObject = Type.Object(
  {
    objectName: name("The provider's name of the object."),
    inheritMapping: Type.Optional(
      Type.Boolean({ description: 'Write through the field mappings chosen for reading the same object.' }),
    ),
    valueDefaults: Type.Optional(Type.Object({ allowAnyFields: Type.Optional(Type.Boolean()) }, closed)),
  },
  { ...closed, title: 'ManifestWriteObject' },
);
export type ManifestWriteObject = Static<typeof ManifestWriteObject>;

const UpdateEvent = Type.Object(
  {
    enabled: Type.Literal('always'),
    watchFieldsAuto: Type.Optional(Type.Union([Type.Literal('all'), Type.Literal('selected')])),
    requiredWatchFields: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: most.fields })),
  },
  { ...closed, title: 'ManifestUpdateEvent' },
);

const AssociationChangeEvent = Type.Object(
  { enabled: Type.Literal('always'), includeFullRecords: Type.Optional(Type.Boolean()) },
  { ...closed, title: 'ManifestAssociationChangeEvent' },
);

/** One object whose changes are subscribed to. */
export const ManifestSubscribeObject = Type.Object(
  {
    objectName: name("The provider's name of the object."),
    destination: destinationName('The destination that receives the events.'),
    inheritFieldsAndMapping: Type.Optional(Type.Boolean()),
    inheritFieldsAndMappings: Type.Optional(
      Type.Boolean({ description: 'The same as `inheritFieldsAndMapping`.' }),
    ),
    createEvent: Type.Optional(switchedOn('A record was created.')),
    updateEvent: Type.Optional(UpdateEvent),
    deleteEvent: Type.Optional(switchedOn('A record was deleted.')),
    associationChangeEvent: Type.Optional(AssociationChangeEvent),
    otherEvents: Type.Optional(Type.Array(Type.String({ minLength: 1 }), { maxItems: most.events })),
  },
  { ...closed, title: 'ManifestSubscribeObject' },
);
export type ManifestSubscribeObject = Static<typeof ManifestSubscribeObject>;

/** The watcher of schema changes. */
export const ManifestWatchSchema = Type.Object(
  {
    destination: destinationName('The destination that receives the changes.'),
    schedule: Type.Optional(
      Type.String({ description: 'Cron with five fields, an hour apart or more; once a day unless given.' }),
    ),
    allObjects: Type.Object(
      {
        fieldCreated: Type.Optional(switchedOn('A field appeared.')),
        fieldDeleted: Type.Optional(switchedOn('A field disappeared.')),
        fieldChanged: Type.Optional(switchedOn('A field changed its type, label or description.')),
      },
      closed,
    ),
  },
  { ...closed, title: 'ManifestWatchSchema' },
);

const objectsOf = <Of extends TSchema>(object: Of) =>
  Type.Object({ objects: Type.Array(object, { minItems: 1, maxItems: most.objects }) }, closed);

/** One integration of the manifest; kept whole as the content of a revision. */
export const ManifestIntegration = Type.Object(
  {
    name: Type.String({
      pattern: '^[A-Za-z0-9_-]{1,64}$',
      description: 'Unique in the project: letters, digits, `-` and `_`, at most 64.',
    }),
    displayName: Type.Optional(Type.String({ maxLength: 100 })),
    provider: name('A key of the catalogue, case-sensitive.'),
    module: Type.Optional(name('A module of the provider.')),
    read: Type.Optional(objectsOf(ManifestReadObject)),
    write: Type.Optional(objectsOf(ManifestWriteObject)),
    subscribe: Type.Optional(objectsOf(ManifestSubscribeObject)),
    proxy: Type.Optional(
      Type.Object(
        {
          enabled: Type.Boolean(),
          useModule: Type.Optional(
            Type.Boolean({ description: "Call the module's base URL, not the provider's." }),
          ),
        },
        closed,
      ),
    ),
    watchSchema: Type.Optional(ManifestWatchSchema),
  },
  { ...closed, title: 'ManifestIntegration' },
);
export type ManifestIntegration = Static<typeof ManifestIntegration>;

/** A whole `svc.yaml`. */
export const Manifest = Type.Object(
  {
    specVersion: Type.Literal('1.0.0'),
    integrations: Type.Array(ManifestIntegration, { minItems: 1, maxItems: most.integrations }),
  },
  // `x-…` holds what the author wants to keep at hand, such as anchors; it means nothing here.
  { ...closed, patternProperties: { '^x-': {} } },
);
export type Manifest = Static<typeof Manifest>;

/** Something found in a manifest. Errors refuse it, warnings do not. */
export const ManifestIssue = Type.Object(
  {
    severity: Type.Union([Type.Literal('error'), Type.Literal('warning')]),
    rule: Type.String({
      description:
        'The name of the rule; a warning is silenced by `# svc:ignore[rule]` on its line or above it, also one that a deploy finds.',
    }),
    path: Type.String({
      description: 'A dotted path with indexes, such as `integrations[0].read.objects[2].schedule`.',
    }),
    message: Type.String(),
    line: Type.Integer(),
    column: Type.Integer(),
    suggestion: Type.Optional(Type.String()),
  },
  { ...closed, title: 'ManifestIssue' },
);
export type ManifestIssue = Static<typeof ManifestIssue>;
