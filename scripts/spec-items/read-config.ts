import type { SpecItem, SpecSection } from '../spec-coverage/item.ts';
import { installation, journey } from './tests.ts';

const whole = '§4.1, §2.2 an installation binds integration, group and connection with a config';
const reading = 'reading and delivery by this setting; it is checked and kept today';

const objects: SpecItem[] = [
  {
    id: '2.4/read.objects',
    says: 'A map from any key to the config of an object; required within read.',
    accepts: [
      ...installation.check('§2.4 objectName: accepts an object of the manifest under any key'),
      ...journey.install(whole),
    ],
    refuses: [
      ...journey.config('§2.3 read without objects'),
      ...installation.shape('§2.4 read.objects: a list'),
    ],
  },
  {
    id: '2.4/objectName',
    says: 'The object to read; required.',
    accepts: installation.check('§2.4 objectName: accepts an object of the manifest under any key'),
    refuses: [
      ...journey.config('§2.4, §7.3 objectName: missing', '§2.4 objectName: not in the manifest'),
      ...installation.check('§2.4 objectName: refuses one object under two keys'),
    ],
  },
  {
    id: '2.4/schedule',
    says: 'A cron expression.',
    accepts: installation.check('§2.4 schedule: accepts %s'),
    refuses: [
      ...journey.config('§2.4 schedule: no cron', '§2.4 schedule: too often'),
      ...installation.check('§2.4 schedule: refuses "%s"'),
    ],
    later: 'reading by the schedule; it is checked and kept today',
  },
  {
    id: '2.4/disabled',
    says: 'False by default; when true, scheduled reads pause and reads on demand are refused.',
    accepts: [
      ...journey.config('§2.4 disabled is accepted'),
      ...installation.sampling('§4.1 sample: not an object that is disabled or has no schedule'),
    ],
    refuses: journey.config('§2.4 disabled: no boolean'),
    later: 'pausing the schedule and refusing reads on demand',
  },
  {
    id: '2.4/destination',
    says: 'Where the result goes.',
    accepts: journey.install(whole),
    refuses: journey.config('§2.4 destination: no text'),
    later: 'destinations and delivery to them',
  },
];

const fields: SpecItem[] = [
  {
    id: '2.4/selectedFields',
    says: 'A map from field to boolean: the fields to read.',
    accepts: journey.install(whole),
    refuses: [
      ...journey.config(
        '§2.4 selectedFields: values must be booleans',
        '§2.4 selectedFields: a field that the provider lacks',
        '§2.4 selectedFields: none at all',
      ),
      ...installation.shape('§2.4 selectedFields: a list'),
    ],
    later: reading,
  },
  {
    id: '2.4/selectedFields/mapped',
    says: 'A field that selectedFieldMappings names need not be listed.',
    accepts: installation.check('§2.4 selectedFields: accepts %j'),
    refuses: installation.check('§2.4 selectedFields: refuses an object without any field, %j'),
  },
  {
    id: '2.4/selectedValueMappings',
    says: 'Per field: delivered value to value of the provider.',
    accepts: [
      ...journey.install(whole),
      ...installation.check('§2.4 selectedValueMappings: accepts one to one'),
    ],
    refuses: journey.config(
      '§2.4 selectedValueMappings: no map of texts',
      '§2.4 selectedValueMappings: not one to one',
    ),
    later: reading,
  },
  {
    id: '2.4/dynamicMappingsInput',
    says: 'The list of the mappings that the customer is offered.',
    accepts: journey.install(whole),
    refuses: journey.config(
      '§2.4 dynamicMappingsInput: no list',
      '§2.4 dynamicMappingsInput: one name twice',
    ),
  },
  {
    id: '2.4/selectedFieldMappings',
    says: 'A map from the builder’s name to the provider’s field: the chosen mappings.',
    accepts: [
      ...journey.install(whole),
      ...installation.check('§2.4 selectedFieldMappings: two names may share one field'),
    ],
    refuses: journey.config(
      '§2.4 selectedFieldMappings: a required one is missing',
      '§2.4 selectedFieldMappings: values must be texts',
      '§2.4 selectedFieldMappings: a field that the provider lacks',
    ),
    later: reading,
  },
  {
    id: '2.4/selectedFieldsAuto',
    says: 'Only “all”: every field is read.',
    accepts: journey.config('§2.4 selectedFieldsAuto: all'),
    refuses: journey.config('§2.4 selectedFieldsAuto: another value than all'),
    later: reading,
  },
];

const mappingEntry: SpecItem[] = [
  {
    id: '2.4/dynamicMappingsInput.mapToName',
    says: 'Field name in the builder’s application; required.',
    accepts: installation.shape('§2.4 mapToName: alone'),
    refuses: [
      ...journey.config('§2.4 dynamicMappingsInput: without mapToName'),
      ...installation.shape('§2.4 mapToName: empty'),
    ],
  },
  {
    id: '2.4/dynamicMappingsInput.mapToDisplayName',
    says: 'Its name in the mapping UI.',
    accepts: installation.shape('§2.4 mapToDisplayName, prompt and fieldName: texts'),
    refuses: installation.shape('§2.4 mapToDisplayName: no text'),
  },
  {
    id: '2.4/dynamicMappingsInput.prompt',
    says: 'The question in the mapping UI.',
    accepts: installation.shape('§2.4 mapToDisplayName, prompt and fieldName: texts'),
    refuses: installation.shape('§2.4 prompt: no text'),
  },
  {
    id: '2.4/dynamicMappingsInput.mappedValues',
    says: 'Possible values of the builder’s field, each with mappedValue and mappedDisplayValue.',
    accepts: [...journey.install(whole), ...installation.shape('§2.4 mappedValues: both texts')],
    refuses: [
      ...journey.config('§2.4 mappedValues: without mappedDisplayValue'),
      ...installation.shape(
        '§2.4 mappedValues: no list',
        '§2.4 mappedValue: none',
        '§2.4 mappedDisplayValue: no text',
      ),
    ],
  },
  {
    id: '2.4/dynamicMappingsInput.fieldName',
    says: 'The provider’s field; when present, the customer is not asked.',
    accepts: installation.shape('§2.4 mapToDisplayName, prompt and fieldName: texts'),
    refuses: installation.shape('§2.4 fieldName of a mapping: no text'),
  },
];

const backfill: SpecItem[] = [
  {
    id: '2.4/backfill',
    says: 'defaultPeriod is required, fieldFilters are optional and for the backfill only.',
    accepts: journey.install(whole),
    refuses: [
      ...journey.config(
        '§2.4 backfill: without defaultPeriod',
        '§2.4 backfill filter: two conditions on one field',
      ),
      ...installation.shape('§2.4 backfill: no object'),
    ],
    later: 'the backfill itself; it is checked and kept today',
  },
  {
    id: '2.4/backfill.defaultPeriod.days',
    says: 'A whole number from 0 on, 0 for no backfill; required when fullHistory is not set.',
    accepts: [
      ...journey.config('§2.4 days: 0 means no backfill'),
      ...installation.check('§7.3 backfill: accepts %j'),
    ],
    refuses: journey.config(
      '§2.4 defaultPeriod.days: below 0',
      '§2.4 defaultPeriod.days: no integer',
      '§2.4, §7.3 defaultPeriod: neither days nor fullHistory',
      '§2.4 defaultPeriod: fullHistory false without days',
    ),
  },
  {
    id: '2.4/backfill.defaultPeriod.fullHistory',
    says: 'When true, all of history; required when days is not set.',
    accepts: journey.config('§2.4 fullHistory without days', '§2.4 fullHistory: true wins over days'),
    refuses: journey.config(
      '§2.4 defaultPeriod.fullHistory: no boolean',
      '§2.4, §7.3 defaultPeriod: neither days nor fullHistory',
    ),
  },
];

const filters: SpecItem[] = [
  {
    id: '2.4/fieldFilters',
    says: 'Conditions on incremental reads and on the backfill, all of which must hold.',
    accepts: [
      ...journey.config('§2.4 filters with a text, a boolean and a number'),
      ...installation.check('§2.4 fieldFilters: accepts one condition for each field'),
    ],
    refuses: installation.shape('§2.4 fieldFilters: no list'),
    later: 'reading by the filters; they are checked and kept today',
  },
  {
    id: '2.4/fieldFilters/one',
    says: 'A field has one condition only.',
    accepts: installation.check('§2.4 fieldFilters: accepts one condition for each field'),
    refuses: journey.config(
      '§2.4 filter: two conditions on one field',
      '§2.4 backfill filter: two conditions on one field',
    ),
  },
  {
    id: '2.4/fieldFilters.fieldName',
    says: 'Required.',
    accepts: journey.config('§2.4 filters with a text, a boolean and a number'),
    refuses: journey.config('§2.4, §7.3 filter: without fieldName'),
  },
  {
    id: '2.4/fieldFilters.operator',
    says: 'Required; only “eq”.',
    accepts: journey.config('§2.4 filters with a text, a boolean and a number'),
    refuses: journey.config('§2.4, §7.3 filter: without operator', '§2.4 filter: another operator than eq'),
  },
  {
    id: '2.4/fieldFilters.value',
    says: 'A text, a boolean or a number.',
    accepts: [
      ...journey.config('§2.4 filters with a text, a boolean and a number'),
      ...installation.shape('§2.4 filter value: a boolean'),
    ],
    refuses: [
      ...journey.config('§2.4 filter: a value of another type'),
      ...installation.shape('§2.4 filter value: none'),
    ],
  },
];

export const readConfigSection: SpecSection = {
  title: '2.4 Read config',
  items: [...objects, ...fields, ...mappingEntry, ...backfill, ...filters],
};
