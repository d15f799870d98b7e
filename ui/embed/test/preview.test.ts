import { describe, expect, it } from 'vitest';
import type { ConfigContent, FieldMetadata, HydratedRevision } from '../../client/src/index.ts';
import { deliveredValues, draftOf, exampleOf, sentValues } from '../src/state/preview.ts';

const field = (fieldName: string, displayName: string, more: Partial<FieldMetadata> = {}): FieldMetadata => ({
  fieldName,
  displayName,
  valueType: 'string',
  ...more,
});
const fields = [
  field('email', 'Email'),
  field('firstname', 'First name'),
  field('City', 'Town'),
  field('stage', 'Stage', { values: [{ value: 'new', displayValue: 'New' }] }),
  field('createdate', 'Created', { valueType: 'datetime', readOnly: true }),
  field('employees', 'Employees', { valueType: 'int' }),
];
const contacts = {
  objectName: 'contacts',
  displayName: 'Contacts',
  requiredFields: [
    { fieldName: 'email' },
    { fieldName: 'createdate' },
    { mapToName: 'nick', mapToDisplayName: 'Nickname' },
    { fieldName: 'employees', mapToName: 'size' },
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
    write: {
      objects: [
        { objectName: 'contacts', displayName: 'Contacts', inheritMapping: true },
        { objectName: 'deals', displayName: 'Deals' },
      ],
    },
  },
};
const draft: ConfigContent = {
  provider: 'hubspot',
  read: { objects: { contacts: { objectName: 'contacts', selectedFieldMappings: { nick: 'firstname' } } } },
  write: {
    objects: {
      Contacts: {
        objectName: 'Contacts',
        selectedFieldSettings: {
          City: { default: { stringValue: 'Bern' } },
          stage: { writeOnUpdate: 'ifEmpty' },
        },
      },
      deals: { objectName: 'deals' },
    },
  },
};
const written = { revision, draft, objectName: 'contacts' };

describe('ui/embed/preview', () => {
  it('asks for one object only, whatever its case', () => {
    const narrowed = draftOf(draft, 'contacts');
    expect(Object.values(narrowed.write?.objects ?? {}).map(({ objectName }) => objectName)).toEqual([
      'Contacts',
    ]);
    expect(draftOf(draft, 'deals')).not.toHaveProperty('read');
  });

  it('shows what is delivered in the words of the builder and of the account, values first', () => {
    const preview = {
      objectName: 'contacts',
      rawObjectName: 'contacts',
      result: [
        {
          fields: { email: 'a@example.com', city: '', createdate: null },
          mappedFields: { nick: 'Ada', at: { town: 'Bern' } },
          raw: {},
          associations: { companies: [] },
        },
      ],
      missingFields: [],
    };
    const shown = deliveredValues(preview, contacts, {});
    expect(shown.map(({ label, text }) => [label, text])).toEqual([
      ['Nickname', 'Ada'],
      ['at', '{"town":"Bern"}'],
      ['Email', 'a@example.com'],
      ['companies', '[]'],
      ['Town', undefined],
      ['Created', undefined],
    ]);
    expect(deliveredValues({ ...preview, result: [] }, contacts)).toEqual([]);
  });

  it('makes up a record of what the form knows, without what is read only and what has a default', () => {
    expect(exampleOf(written, undefined, 'Example')).toEqual({
      email: 'Example',
      employees: 1,
      nick: 'Example',
      size: 1,
      stage: 'new',
    });
    expect(exampleOf(written, { email: 'own@example.com' }, 'Example')).toEqual({ email: 'own@example.com' });
    expect(exampleOf({ ...written, objectName: 'deals' }, undefined, 'Example')).toEqual({});
    // Where all that is known has a default, svc is asked with that: it refuses a record that holds nothing.
    const city = { default: { stringValue: 'Bern' }, writeOnUpdate: 'never' as const };
    const ruled = { deals: { objectName: 'deals', selectedFieldSettings: { city } } };
    const only = { ...written, draft: { ...draft, write: { objects: ruled } }, objectName: 'deals' };
    expect(exampleOf(only, undefined, 'Example')).toEqual({ city: 'Bern' });
  });

  it('says of each field what a new record and one that is there get of it', () => {
    const plan = (record: Record<string, unknown>) => ({ records: [record], calls: [] });
    const sent = sentValues(
      written,
      { email: 'x', nick: 'Ada', stage: 'new' },
      {
        create: plan({ fields: { email: 'x', firstname: 'Ada', City: 'Bern', stage: 'new' } }),
        update: plan({ fields: { email: 'x', stage: 'new' }, ifEmpty: ['stage'] }),
      },
    );
    expect(
      sent.map(({ label, create, update, onlyIfEmpty }) => [label, create, update, onlyIfEmpty]),
    ).toEqual([
      ['Email', 'x', 'x', false],
      ['First name', 'Ada', undefined, false],
      ['Stage', 'new', 'new', true],
      ['Town', 'Bern', undefined, false],
    ]);
  });
});
