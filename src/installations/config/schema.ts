import { Type, type Static, type TProperties, type TSchema } from 'typebox';

const closed = <Properties extends TProperties>(properties: Properties, description?: string) =>
  Type.Object(properties, {
    additionalProperties: false,
    ...(description === undefined ? {} : { description }),
  });

// More than any provider has of one kind, and so little that a config is checked in a moment.
const most = {
  objects: 500,
  fields: 5_000,
  filters: 100,
  values: 1_000,
  nameLength: 1_000,
  textLength: 10_000,
};

const named = <Properties extends TProperties>(title: string, properties: Properties) =>
  Type.Object(properties, { additionalProperties: false, title });

/** A map with free keys. Unlike a pattern over the keys, it checks every value whatever its key looks like. */
const mapOf = <Value extends TSchema>(value: Value, maxProperties: number, description?: string) =>
  Type.Unsafe<Record<string, Static<Value>>>({
    type: 'object',
    additionalProperties: value,
    propertyNames: { maxLength: most.nameLength },
    maxProperties,
    ...(description === undefined ? {} : { description }),
  });

const choice = <const Values extends readonly string[]>(...values: Values) =>
  Type.Unsafe<Values[number]>(Type.Enum([...values]));
const name = (description: string) => Type.String({ minLength: 1, maxLength: most.nameLength, description });
const text = Type.String({ maxLength: most.textLength });

/** One condition on a field; conditions of one list are ANDed (§2.4). */
export const FieldFilter = named('FieldFilter', {
  fieldName: name('Field name at the provider.'),
  operator: choice('eq'),
  value: Type.Union([text, Type.Boolean(), Type.Number()]),
});
export type FieldFilter = Static<typeof FieldFilter>;

export const Backfill = named('Backfill', {
  defaultPeriod: closed({
    days: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 36_500, description: 'Days in the past; 0 means no backfill.' }),
    ),
    fullHistory: Type.Optional(Type.Boolean({ description: 'When true, all history; wins over `days`.' })),
  }),
  fieldFilters: Type.Optional(
    Type.Array(FieldFilter, {
      maxItems: most.filters,
      description: 'Replace the filters of the object during the backfill.',
    }),
  ),
});

/** A mapping offered to the customer; the chosen ones are in `selectedFieldMappings` (§2.4). */
export const DynamicMapping = named('DynamicMapping', {
  mapToName: name("Field name in the builder's application."),
  mapToDisplayName: Type.Optional(text),
  prompt: Type.Optional(text),
  mappedValues: Type.Optional(
    Type.Array(closed({ mappedValue: text, mappedDisplayValue: text }), { maxItems: most.values }),
  ),
  fieldName: Type.Optional(name('Field name at the provider; when present, the customer is not asked.')),
});

/** What the records are delivered with. */
const ReadAssociationsConfig = named('ReadAssociationsConfig', {
  objects: Type.Optional(
    Type.Array(name('Name of an associated object at the provider.'), {
      maxItems: 20,
      description: 'Replace those of the integration; none: `[]`.',
    }),
  ),
  schedule: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'When changes of associations alone are looked for: cron expression with five fields, at most every hour.',
    }),
  ),
});

/** How one object is read (§2.4). */
export const ReadObjectConfig = named('ReadObjectConfig', {
  objectName: name('Name of the object at the provider.'),
  schedule: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Cron expression with five fields, at most every ten minutes.',
    }),
  ),
  disabled: Type.Optional(
    Type.Boolean({ description: 'When true, scheduled reads pause and reads on demand are refused.' }),
  ),
  destination: Type.Optional(name('Name of the destination that receives the result.')),
  selectedFields: Type.Optional(
    mapOf(Type.Boolean(), most.fields, 'Fields to read, by their name at the provider.'),
  ),
  selectedValueMappings: Type.Optional(
    mapOf(
      mapOf(text, most.values),
      most.fields,
      'Per provider field: delivered value to provider value, one to one.',
    ),
  ),
  dynamicMappingsInput: Type.Optional(Type.Array(DynamicMapping, { maxItems: most.fields })),
  selectedFieldMappings: Type.Optional(
    mapOf(name('Field name at the provider.'), most.fields, "The builder's field name to the provider's."),
  ),
  selectedFieldsAuto: Type.Optional(choice('all')),
  backfill: Type.Optional(Backfill),
  fieldFilters: Type.Optional(Type.Array(FieldFilter, { maxItems: most.filters })),
  associations: Type.Optional(ReadAssociationsConfig),
});
export type ReadObjectConfig = Static<typeof ReadObjectConfig>;

/** What happens to one field in a write (§2.5). */
export const FieldSetting = named('FieldSetting', {
  default: Type.Optional(
    closed(
      {
        stringValue: Type.Optional(text),
        integerValue: Type.Optional(Type.Integer()),
        booleanValue: Type.Optional(Type.Boolean()),
      },
      'At most one of the three; applied when the field is missing from the write request.',
    ),
  ),
  writeOnCreate: Type.Optional(choice('always', 'never')),
  writeOnUpdate: Type.Optional(choice('always', 'never', 'ifEmpty')),
});
export type FieldSetting = Static<typeof FieldSetting>;

/** The older form of a default (§2.5). */
export const ValueDefault = named('ValueDefault', {
  value: Type.Union([text, Type.Integer(), Type.Boolean()]),
  applyOnUpdate: Type.Optional(choice('always', 'never')),
});
export type ValueDefault = Static<typeof ValueDefault>;

/** How one object is written (§2.5). */
export const WriteObjectConfig = named('WriteObjectConfig', {
  objectName: name('Name of the object at the provider.'),
  inheritMapping: Type.Optional(
    Type.Boolean({
      description: "Write through the read action's field mappings; the manifest's value when absent.",
    }),
  ),
  deletionSettings: Type.Optional(closed({ enabled: Type.Boolean() })),
  selectedFieldSettings: Type.Optional(
    mapOf(FieldSetting, most.fields, 'By field name; by mapped name where the mapping is inherited.'),
  ),
  selectedValueDefaults: Type.Optional(
    mapOf(ValueDefault, most.fields, 'Deprecated: use `selectedFieldSettings`.'),
  ),
});
export type WriteObjectConfig = Static<typeof WriteObjectConfig>;

const SwitchedEvent = closed({ enabled: Type.Optional(choice('always', 'never')) });

/** A subscription of a later capability: checked and stored, without effect yet. */
export const SubscribeObjectConfig = named('SubscribeObjectConfig', {
  objectName: name('Name of the object at the provider.'),
  destination: name('Name of the destination that receives the events.'),
  inheritFieldsAndMappings: Type.Optional(Type.Boolean()),
  inheritFieldsAndMapping: Type.Optional(
    Type.Boolean({ description: 'The same, in the spelling of the manifest.' }),
  ),
  createEvent: Type.Optional(SwitchedEvent),
  updateEvent: Type.Optional(
    closed({
      enabled: Type.Optional(choice('always', 'never')),
      watchFieldsAuto: Type.Optional(choice('all', 'selected')),
      requiredWatchFields: Type.Optional(
        Type.Array(name('Field name at the provider.'), { maxItems: most.fields }),
      ),
    }),
  ),
  deleteEvent: Type.Optional(SwitchedEvent),
  otherEvents: Type.Optional(Type.Array(name('As the provider calls it.'), { maxItems: most.values })),
  providerOptions: Type.Optional(
    closed({ quotaOptimization: Type.Optional(closed({ enabled: Type.Boolean() })) }),
  ),
});
export type SubscribeObjectConfig = Static<typeof SubscribeObjectConfig>;

const ProxyConfig = named('ProxyConfig', { enabled: Type.Optional(Type.Boolean()) });

/** What an installation is configured to do (§2.3). */
export const ConfigContent = named('ConfigContent', {
  provider: name('The SaaS API; the same as the integration names.'),
  read: Type.Optional(closed({ objects: mapOf(ReadObjectConfig, most.objects) })),
  write: Type.Optional(closed({ objects: Type.Optional(mapOf(WriteObjectConfig, most.objects)) })),
  subscribe: Type.Optional(closed({ objects: mapOf(SubscribeObjectConfig, most.objects) })),
  proxy: Type.Optional(ProxyConfig),
});
export type ConfigContent = Static<typeof ConfigContent>;

/** The content of a PATCH: any part of it; the whole is checked after the masked parts are in place. */
export const PartialConfigContent = named('UpdateConfigContent', {
  provider: Type.Optional(name('The SaaS API; the same as the integration names.')),
  read: Type.Optional(
    closed({
      objects: Type.Optional(
        mapOf(
          Type.Partial(ReadObjectConfig, { additionalProperties: false, title: 'PartialReadObjectConfig' }),
          most.objects,
        ),
      ),
    }),
  ),
  write: Type.Optional(
    closed({
      objects: Type.Optional(
        mapOf(
          Type.Partial(WriteObjectConfig, { additionalProperties: false, title: 'PartialWriteObjectConfig' }),
          most.objects,
        ),
      ),
    }),
  ),
  subscribe: Type.Optional(
    closed({
      objects: Type.Optional(
        mapOf(
          Type.Partial(SubscribeObjectConfig, {
            additionalProperties: false,
            title: 'PartialSubscribeObjectConfig',
          }),
          most.objects,
        ),
      ),
    }),
  ),
  proxy: Type.Optional(ProxyConfig),
});
export type PartialConfigContent = Static<typeof PartialConfigContent>;
