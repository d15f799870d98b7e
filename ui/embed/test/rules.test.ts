import { describe, expect, it } from 'vitest';
import type {
  ConfigContent,
  FieldMetadata,
  HydratedReadObject,
  HydratedRevision,
} from '../../client/src/index.ts';
import { matching } from '../src/components/field-picker.tsx';
import { choosable, vanishedFields } from '../src/state/questions.ts';
import { cleaned, markedUrl, returnedIn, type Left } from '../src/state/refusal.ts';
import { ruledFields, rulesOf } from '../src/state/rules.ts';

const field = (fieldName: string, displayName: string, readOnly = false): FieldMetadata => ({
  fieldName,
  displayName,
  valueType: 'string',
  readOnly,
});
const fields = [
  field('phone', 'Phone Number'),
  field('mobilephone', 'Mobile Phone'),
  field('city', 'City'),
  field('createdate', 'Created', true),
];
const contacts: HydratedReadObject = {
  objectName: 'contacts',
  displayName: 'Contacts',
  optionalFields: [
    { mapToName: 'phone', mapToDisplayName: 'Phone' },
    { mapToName: 'nickname', mapToDisplayName: 'Nickname' },
  ],
  allFieldsMetadata: Object.fromEntries(fields.map((one) => [one.fieldName, one])),
};
const revision: HydratedRevision = {
  id: 'r1',
  specVersion: '1.0.0',
  createTime: '2026-01-01T00:00:00Z',
  content: {
    name: 'crm',
    provider: 'hubspot',
    read: { objects: [contacts] },
    write: { objects: [{ objectName: 'contacts', displayName: 'Contacts', inheritMapping: true }] },
  },
};
const mappedTo = (
  selectedFieldMappings: Record<string, string>,
  selectedFieldSettings = {},
): ConfigContent => ({
  provider: 'hubspot',
  read: { objects: { contacts: { objectName: 'contacts', selectedFieldMappings } } },
  write: { objects: { contacts: { objectName: 'contacts', selectedFieldSettings } } },
});
const namesOf = (draft: ConfigContent) =>
  ruledFields({ revision, draft, objectName: 'contacts' }).map(
    ({ name, field: { fieldName }, matchedTo }) => [name, fieldName, matchedTo],
  );

describe('ui/embed/rules', () => {
  it('offers each field of the provider once, by the name that svc reads', () => {
    expect(namesOf(mappedTo({ phone: 'phone' }))).toEqual([
      ['phone', 'phone', 'Phone'],
      ['mobilephone', 'mobilephone', undefined],
      ['city', 'city', undefined],
    ]);
    // The builder's phone is the mobile one: the provider's phone has no name of its own.
    expect(namesOf(mappedTo({ phone: 'mobilephone' }))).toEqual([
      ['phone', 'mobilephone', 'Phone'],
      ['city', 'city', undefined],
    ]);
    expect(namesOf(mappedTo({}))).toEqual([
      ['phone', 'phone', undefined],
      ['mobilephone', 'mobilephone', undefined],
      ['city', 'city', undefined],
    ]);
  });

  it('says what a rule applies to, also of a field that is gone', () => {
    const draft = mappedTo({ phone: 'mobilephone' }, { Phone: {}, city: {}, gone: {} });
    const rules = rulesOf({ revision, draft, objectName: 'contacts' });
    expect(rules.map(({ label, matchedTo }) => [label, matchedTo])).toEqual([
      ['Mobile Phone', 'Phone'],
      ['City', undefined],
      ['gone', undefined],
    ]);
  });

  it('finds what is called so before what only begins with it', () => {
    const choices = fields.map(({ fieldName, displayName }) => ({ value: fieldName, label: displayName }));
    expect(matching(choices, 'phone').map(({ value }) => value)).toEqual(['phone', 'mobilephone']);
    expect(matching(choices, 'mobile ph').map(({ value }) => value)).toEqual(['mobilephone']);
  });

  it('knows the chosen fields that are gone, and chooses no more than may be', () => {
    const config = {
      objectName: 'contacts',
      selectedFields: { city: true, gone: true, left: false, "$['a']['b']": true },
    };
    expect(vanishedFields(contacts, config)).toEqual(['gone']);
    expect(vanishedFields({ objectName: 'contacts', displayName: 'Contacts' }, config)).toEqual([]);
    expect(choosable(['a', 'b', 'c', 'd'], ['a', 'x'], 4)).toEqual(['b', 'c']);
    expect(choosable(['a'], ['x', 'y'], 2)).toEqual([]);
  });
});

describe('ui/embed/return', () => {
  const asked = { whose: 'ada of acme', provider: 'hubspot' };
  const left: Left = { ...asked, mark: 'm1' };
  const back = (more: string): string => `${markedUrl('https://app.example.com/a?tab=1', 'm1')}&${more}#top`;

  it('believes what a sign-in brings back that this tab left for, and cleans the address', () => {
    const refused = back('error=Call+me&errorReason=denied');
    expect(returnedIn(refused, left, asked)).toBe('denied');
    expect(cleaned(refused)).toBe('https://app.example.com/a?tab=1#top');
    expect(returnedIn(back('connectionId=c1'), left, asked)).toBe('connected');
    expect(returnedIn(back('error=Call+me&errorReason=made-up'), left, asked)).toBe('failed');
  });

  it('leaves alone what anybody may have written', () => {
    const refused = back('error=Call+me&errorReason=denied');
    expect(returnedIn(refused, undefined, asked)).toBeUndefined();
    expect(returnedIn(refused, { ...left, mark: 'm2' }, asked)).toBeUndefined();
    expect(returnedIn(refused, left, { ...asked, provider: 'salesforce' })).toBeUndefined();
    expect(returnedIn(refused, left, { ...asked, whose: 'ben of acme' })).toBeUndefined();
    expect(returnedIn('https://app.example.com/a?error=card_declined', left, asked)).toBeUndefined();
  });
});
