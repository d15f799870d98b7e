import { describe, expect, it } from 'vitest';
import { compileCheck } from '../../kit/http/validation.ts';
import { ConfigContent } from './schema.ts';

const check = compileCheck(ConfigContent);
const reading = (more: object): object => ({
  provider: 'hubspot',
  read: { objects: { contacts: { objectName: 'contacts', ...more } } },
});
const offering = (more: object): object =>
  reading({ dynamicMappingsInput: [{ mapToName: 'level', ...more }] });
const valued = (value: object): object => offering({ mappedValues: [value] });
const filtering = (filter: unknown): object => reading({ fieldFilters: filter });
const writing = (more: object): object => ({
  provider: 'hubspot',
  write: { objects: { contacts: { objectName: 'contacts', ...more } } },
});
const setting = (given: object): object => writing({ selectedFieldSettings: { city: given } });
const object = 'read.objects.contacts';
const offered = `${object}.dynamicMappingsInput[0]`;
const written = 'write.objects.contacts';

describe('src/installations/config/schema', () => {
  it.each<[string, object]>([
    ['§2.3 provider: alone', { provider: 'hubspot' }],
    ['§2.3 write: with no objects yet', { provider: 'hubspot', write: {} }],
    ['§2.3 proxy: enabled', { provider: 'hubspot', proxy: { enabled: true } }],
    ['§2.4 read.objects: any key', { provider: 'x', read: { objects: { 'a b': { objectName: 'a' } } } }],
    ['§2.4 mapToName: alone', offering({})],
    [
      '§2.4 mapToDisplayName, prompt and fieldName: texts',
      offering({ mapToDisplayName: 'L', prompt: '?', fieldName: 'f' }),
    ],
    ['§2.4 mappedValues: both texts', valued({ mappedValue: '', mappedDisplayValue: 'None' })],
    ['§2.4 filter value: a text', filtering([{ fieldName: 'a', operator: 'eq', value: '' }])],
    ['§2.4 filter value: a boolean', filtering([{ fieldName: 'a', operator: 'eq', value: false }])],
    ['§2.4 filter value: a number', filtering([{ fieldName: 'a', operator: 'eq', value: 1.5 }])],
  ])('%s is well-formed', (_title, content) => {
    expect(check(content, 'body').issues).toEqual([]);
  });

  it.each<[string, object, string]>([
    ['§2.3 provider: none', {}, 'provider'],
    ['§2.3 write: no object', { provider: 'x', write: [] }, 'write'],
    ['§2.3 write.objects: a list', { provider: 'x', write: { objects: [] } }, 'write.objects'],
    ['§2.3 proxy: an unknown member', { provider: 'x', proxy: { on: true } }, 'proxy.on'],
    ['§2.4 read.objects: a list', { provider: 'x', read: { objects: [] } }, 'read.objects'],
    ['§2.4 selectedFields: a list', reading({ selectedFields: ['email'] }), `${object}.selectedFields`],
    ['§2.4 mapToName: empty', offering({ mapToName: '' }), `${offered}.mapToName`],
    ['§2.4 mapToDisplayName: no text', offering({ mapToDisplayName: 1 }), `${offered}.mapToDisplayName`],
    ['§2.4 prompt: no text', offering({ prompt: true }), `${offered}.prompt`],
    ['§2.4 fieldName of a mapping: no text', offering({ fieldName: 5 }), `${offered}.fieldName`],
    ['§2.4 mappedValues: no list', offering({ mappedValues: {} }), `${offered}.mappedValues`],
    ['§2.4 mappedValue: none', valued({ mappedDisplayValue: 'A' }), `${offered}.mappedValues[0].mappedValue`],
    [
      '§2.4 mappedDisplayValue: no text',
      valued({ mappedValue: 'a', mappedDisplayValue: 1 }),
      `${offered}.mappedValues[0].mappedDisplayValue`,
    ],
    ['§2.4 backfill: no object', reading({ backfill: 30 }), `${object}.backfill`],
    ['§2.4 fieldFilters: no list', filtering({ a: 1 }), `${object}.fieldFilters`],
    [
      '§2.4 filter value: none',
      filtering([{ fieldName: 'a', operator: 'eq' }]),
      `${object}.fieldFilters[0].value`,
    ],
    ['§2.5 write.objects: no object', { provider: 'x', write: { objects: { a: true } } }, 'write.objects.a'],
    [
      '§2.5 selectedFieldSettings: a list',
      writing({ selectedFieldSettings: [] }),
      `${written}.selectedFieldSettings`,
    ],
    [
      '§2.5 field setting: an unknown member',
      setting({ writeOnDelete: 'never' }),
      `${written}.selectedFieldSettings.city.writeOnDelete`,
    ],
    [
      '§2.5 selectedValueDefaults: a value that is no scalar',
      writing({ selectedValueDefaults: { city: { value: ['a'] } } }),
      `${written}.selectedValueDefaults.city.value`,
    ],
  ])('%s is refused by its path', (_title, content, name) => {
    expect(check(content, 'body').issues.map((issue) => issue.name)).toEqual([name]);
  });

  it.each([
    [36_500, []],
    [36_501, ['read.objects.contacts.backfill.defaultPeriod.days']],
  ])('a history of %i days', (days, names) => {
    const { issues } = check(reading({ backfill: { defaultPeriod: { days } } }), 'body');
    expect(issues.map(({ name }) => name)).toEqual(names);
  });
});
