/** A read config of contacts that keeps every rule, with more or other members. */
export const contactsRead = (more: Record<string, unknown> = {}) => ({
  read: {
    objects: {
      contacts: { objectName: 'contacts', selectedFieldMappings: { phone: 'mobilephone' }, ...more },
    },
  },
});
const writes = (more: Record<string, unknown>) => ({
  write: { objects: { contacts: { objectName: 'contacts', ...more } } },
});
/** A write config of contacts with one field setting. */
export const fieldSetting = (given: unknown) => writes({ selectedFieldSettings: { jobtitle: given } });
const read = 'config.content.read.objects.contacts';
const write = 'config.content.write.objects.contacts';

type Case = [title: string, content: Record<string, unknown>, name: string, status: number];

/** Configs of a HubSpot integration that are refused: the path that the refusal names, and its status. */
export const refusals: Case[] = [
  [
    '§2.3 provider: another than the integration’s',
    { provider: 'salesforce' },
    'config.content.provider',
    422,
  ],
  ['§2.3 provider: no text', { provider: 7 }, 'config.content.provider', 400],
  ['§2.3 read without objects', { read: {} }, 'config.content.read.objects', 400],
  ['§2.3 proxy.enabled: no boolean', { proxy: { enabled: 'yes' } }, 'config.content.proxy.enabled', 400],
  [
    '§2.3 proxy.enabled: the integration does not enable it',
    { proxy: { enabled: true } },
    'config.content.proxy.enabled',
    422,
  ],
  ['§2.3 an unknown member', { reads: {} }, 'config.content.reads', 400],
  ['§2.4, §7.3 objectName: missing', contactsRead({ objectName: undefined }), `${read}.objectName`, 400],
  [
    '§2.4 objectName: not in the manifest',
    { read: { objects: { deals: { objectName: 'deals', selectedFieldsAuto: 'all' } } } },
    'config.content.read.objects.deals.objectName',
    422,
  ],
  ['§2.4 schedule: no cron', contactsRead({ schedule: 'daily' }), `${read}.schedule`, 422],
  ['§2.4 schedule: too often', contactsRead({ schedule: '* * * * *' }), `${read}.schedule`, 422],
  ['§2.4 disabled: no boolean', contactsRead({ disabled: 'no' }), `${read}.disabled`, 400],
  ['§2.4 destination: no text', contactsRead({ destination: 5 }), `${read}.destination`, 400],
  [
    '§2.4 selectedFields: values must be booleans',
    contactsRead({ selectedFields: { email: 'yes' } }),
    `${read}.selectedFields.email`,
    400,
  ],
  [
    '§2.4 selectedFields: a field that the provider lacks',
    contactsRead({ selectedFields: { emial: true } }),
    `${read}.selectedFields.emial`,
    422,
  ],
  [
    '§2.4 selectedFields: none at all',
    { read: { objects: { companies: { objectName: 'companies', selectedFields: { name: false } } } } },
    'config.content.read.objects.companies.selectedFields',
    422,
  ],
  [
    '§2.4 selectedValueMappings: no map of texts',
    contactsRead({ selectedValueMappings: { lifecyclestage: { New: 1 } } }),
    `${read}.selectedValueMappings.lifecyclestage.New`,
    400,
  ],
  [
    '§2.4 selectedValueMappings: not one to one',
    contactsRead({ selectedValueMappings: { lifecyclestage: { New: 'lead', Old: 'lead' } } }),
    `${read}.selectedValueMappings.lifecyclestage.Old`,
    422,
  ],
  [
    '§2.4 dynamicMappingsInput: no list',
    contactsRead({ dynamicMappingsInput: {} }),
    `${read}.dynamicMappingsInput`,
    400,
  ],
  [
    '§2.4 dynamicMappingsInput: without mapToName',
    contactsRead({ dynamicMappingsInput: [{ prompt: 'Which?' }] }),
    `${read}.dynamicMappingsInput[0].mapToName`,
    400,
  ],
  [
    '§2.4 mappedValues: without mappedDisplayValue',
    contactsRead({ dynamicMappingsInput: [{ mapToName: 'a', mappedValues: [{ mappedValue: 'x' }] }] }),
    `${read}.dynamicMappingsInput[0].mappedValues[0].mappedDisplayValue`,
    400,
  ],
  [
    '§2.4 dynamicMappingsInput: one name twice',
    contactsRead({ dynamicMappingsInput: [{ mapToName: 'a' }, { mapToName: 'a' }] }),
    `${read}.dynamicMappingsInput[1].mapToName`,
    422,
  ],
  [
    '§2.4 selectedFieldMappings: a required one is missing',
    contactsRead({ selectedFieldMappings: {} }),
    `${read}.selectedFieldMappings.phone`,
    422,
  ],
  [
    '§2.4 selectedFieldMappings: values must be texts',
    contactsRead({ selectedFieldMappings: { phone: true } }),
    `${read}.selectedFieldMappings.phone`,
    400,
  ],
  [
    '§2.4 selectedFieldMappings: a field that the provider lacks',
    contactsRead({ selectedFieldMappings: { phone: 'fone' } }),
    `${read}.selectedFieldMappings.phone`,
    422,
  ],
  [
    '§2.4 selectedFieldsAuto: another value than all',
    contactsRead({ selectedFieldsAuto: 'some' }),
    `${read}.selectedFieldsAuto`,
    400,
  ],
  [
    '§2.4 backfill: without defaultPeriod',
    contactsRead({ backfill: {} }),
    `${read}.backfill.defaultPeriod`,
    400,
  ],
  [
    '§2.4, §7.3 defaultPeriod: neither days nor fullHistory',
    contactsRead({ backfill: { defaultPeriod: {} } }),
    `${read}.backfill.defaultPeriod.days`,
    422,
  ],
  [
    '§2.4 defaultPeriod: fullHistory false without days',
    contactsRead({ backfill: { defaultPeriod: { fullHistory: false } } }),
    `${read}.backfill.defaultPeriod.days`,
    422,
  ],
  [
    '§2.4 defaultPeriod.days: below 0',
    contactsRead({ backfill: { defaultPeriod: { days: -1 } } }),
    `${read}.backfill.defaultPeriod.days`,
    400,
  ],
  [
    '§2.4 defaultPeriod.days: no integer',
    contactsRead({ backfill: { defaultPeriod: { days: 1.5 } } }),
    `${read}.backfill.defaultPeriod.days`,
    400,
  ],
  [
    '§2.4 defaultPeriod.fullHistory: no boolean',
    contactsRead({ backfill: { defaultPeriod: { fullHistory: 'true' } } }),
    `${read}.backfill.defaultPeriod.fullHistory`,
    400,
  ],
  [
    '§2.4, §7.3 filter: without fieldName',
    contactsRead({ fieldFilters: [{ operator: 'eq', value: 1 }] }),
    `${read}.fieldFilters[0].fieldName`,
    400,
  ],
  [
    '§2.4, §7.3 filter: without operator',
    contactsRead({ fieldFilters: [{ fieldName: 'city', value: 1 }] }),
    `${read}.fieldFilters[0].operator`,
    400,
  ],
  [
    '§2.4 filter: another operator than eq',
    contactsRead({ fieldFilters: [{ fieldName: 'city', operator: 'gt', value: 1 }] }),
    `${read}.fieldFilters[0].operator`,
    400,
  ],
  [
    '§2.4 filter: a value of another type',
    contactsRead({ fieldFilters: [{ fieldName: 'city', operator: 'eq', value: null }] }),
    `${read}.fieldFilters[0].value`,
    400,
  ],
  [
    '§2.4 filter: two conditions on one field',
    contactsRead({ fieldFilters: [1, 2].map((value) => ({ fieldName: 'city', operator: 'eq', value })) }),
    `${read}.fieldFilters[1].fieldName`,
    422,
  ],
  [
    '§2.4 backfill filter: two conditions on one field',
    contactsRead({
      backfill: {
        defaultPeriod: { days: 1 },
        fieldFilters: [1, 2].map((value) => ({ fieldName: 'city', operator: 'eq', value })),
      },
    }),
    `${read}.backfill.fieldFilters[1].fieldName`,
    422,
  ],
  ['§2.5, §7.3 objectName: missing', writes({ objectName: undefined }), `${write}.objectName`, 400],
  [
    '§2.5 objectName: not in the manifest',
    { write: { objects: { deals: { objectName: 'deals' } } } },
    'config.content.write.objects.deals.objectName',
    422,
  ],
  ['§2.5 inheritMapping: no boolean', writes({ inheritMapping: 1 }), `${write}.inheritMapping`, 400],
  [
    '§2.5 deletionSettings: without enabled',
    writes({ deletionSettings: {} }),
    `${write}.deletionSettings.enabled`,
    400,
  ],
  [
    '§2.5 deletionSettings.enabled: no boolean',
    writes({ deletionSettings: { enabled: 'true' } }),
    `${write}.deletionSettings.enabled`,
    400,
  ],
  [
    '§2.5 selectedFieldSettings: a field that the provider lacks',
    writes({ selectedFieldSettings: { jobtitel: {} } }),
    `${write}.selectedFieldSettings.jobtitel`,
    422,
  ],
  [
    '§2.5 default: two values',
    fieldSetting({ default: { stringValue: 'a', booleanValue: true } }),
    `${write}.selectedFieldSettings.jobtitle.default`,
    422,
  ],
  [
    '§2.5 default.integerValue: no integer',
    fieldSetting({ default: { integerValue: 1.5 } }),
    `${write}.selectedFieldSettings.jobtitle.default.integerValue`,
    400,
  ],
  [
    '§2.5 default.stringValue: no text',
    fieldSetting({ default: { stringValue: 1 } }),
    `${write}.selectedFieldSettings.jobtitle.default.stringValue`,
    400,
  ],
  [
    '§2.5 default.booleanValue: no boolean',
    fieldSetting({ default: { booleanValue: 'true' } }),
    `${write}.selectedFieldSettings.jobtitle.default.booleanValue`,
    400,
  ],
  [
    '§2.5 writeOnCreate: ifEmpty is for updates only',
    fieldSetting({ writeOnCreate: 'ifEmpty' }),
    `${write}.selectedFieldSettings.jobtitle.writeOnCreate`,
    400,
  ],
  [
    '§2.5 writeOnUpdate: another value',
    fieldSetting({ writeOnUpdate: 'sometimes' }),
    `${write}.selectedFieldSettings.jobtitle.writeOnUpdate`,
    400,
  ],
  [
    '§2.5 selectedValueDefaults: without value',
    writes({ selectedValueDefaults: { jobtitle: { applyOnUpdate: 'never' } } }),
    `${write}.selectedValueDefaults.jobtitle.value`,
    400,
  ],
  [
    '§2.5 selectedValueDefaults.applyOnUpdate: another value',
    writes({ selectedValueDefaults: { jobtitle: { value: 'a', applyOnUpdate: 'ifEmpty' } } }),
    `${write}.selectedValueDefaults.jobtitle.applyOnUpdate`,
    400,
  ],
];

/** Configs that are saved as they were sent. */
export const accepted: [title: string, content: Record<string, unknown>][] = [
  ['§2.3 the provider alone', {}],
  ['§2.4 selectedFieldsAuto: all', contactsRead({ selectedFieldsAuto: 'all' })],
  ['§2.4 disabled', contactsRead({ disabled: true })],
  ['§2.4 days: 0 means no backfill', contactsRead({ backfill: { defaultPeriod: { days: 0 } } })],
  ['§2.4 fullHistory without days', contactsRead({ backfill: { defaultPeriod: { fullHistory: true } } })],
  [
    '§2.4 fullHistory: true wins over days',
    contactsRead({ backfill: { defaultPeriod: { fullHistory: true, days: 3 } } }),
  ],
  [
    '§2.4 filters with a text, a boolean and a number',
    contactsRead({
      fieldFilters: [
        { fieldName: 'city', operator: 'eq', value: 'Bern' },
        { fieldName: 'state', operator: 'eq', value: true },
        { fieldName: 'zip', operator: 'eq', value: 3000 },
      ],
    }),
  ],
  [
    '§2.5 a field that is written at creation only',
    fieldSetting({ writeOnCreate: 'always', writeOnUpdate: 'never' }),
  ],
  [
    '§2.5 a field that is written at updates only',
    fieldSetting({ writeOnCreate: 'never', writeOnUpdate: 'always' }),
  ],
  ['§2.5 a field that is never written', fieldSetting({ writeOnCreate: 'never', writeOnUpdate: 'never' })],
  ['§2.5 a field that is filled where empty', fieldSetting({ writeOnUpdate: 'ifEmpty' })],
  [
    '§2.5 each kind of default',
    writes({
      selectedFieldSettings: {
        jobtitle: { default: { stringValue: '' } },
        city: { default: { integerValue: 0 } },
        state: { default: { booleanValue: false } },
      },
    }),
  ],
  [
    '§2.5 selectedValueDefaults with a text, an integer and a boolean',
    writes({
      selectedValueDefaults: {
        jobtitle: { value: 'a' },
        city: { value: 1, applyOnUpdate: 'always' },
        state: { value: true, applyOnUpdate: 'never' },
      },
    }),
  ],
];
