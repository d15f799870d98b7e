import { describe, expect, it } from 'vitest';
import type { ConfigContent, HydratedReadObject, HydratedRevision } from '../../client/src/index.ts';
import { goneIn } from '../src/state/gone.ts';
import { worded } from '../src/state/revised.ts';

const contacts: HydratedReadObject = {
  objectName: 'contacts',
  displayName: 'Contacts',
  allFieldsMetadata: { city: { fieldName: 'city', displayName: 'City', valueType: 'string' } },
};
const revisionOf = (object: HydratedReadObject): HydratedRevision => ({
  id: 'r1',
  specVersion: '1.0.0',
  createTime: '2026-01-01T00:00:00Z',
  content: {
    name: 'crm',
    provider: 'hubspot',
    read: { objects: [object] },
    write: { objects: [{ objectName: 'contacts', displayName: 'Contacts' }] },
  },
});
const draft: ConfigContent = {
  provider: 'hubspot',
  read: {
    objects: {
      contacts: {
        objectName: 'contacts',
        selectedFields: { city: true, a: true, b: true },
        selectedFieldMappings: { town: 'City', hat: 'c' },
        fieldFilters: [
          { fieldName: 'city', operator: 'eq', value: 'x' },
          { fieldName: 'd', operator: 'eq', value: 'x' },
        ],
      },
    },
  },
  write: { objects: { contacts: { objectName: 'contacts', selectedFieldSettings: { city: {}, e: {} } } } },
};

describe('ui/embed/gone', () => {
  it('says where a draft names what the account does not have, and nothing while nobody knows', () => {
    expect(goneIn(draft, revisionOf(contacts), {})).toEqual([
      { at: 'read/contacts/mapping/hat', text: 'vanished', values: { field: 'c' } },
      { at: 'read/contacts/filter/1', text: 'filterVanished', values: { field: 'd' } },
      { at: 'read/contacts', text: 'vanishedChosen', values: { fields: 'a, b' } },
      { at: 'write/contacts/settings/e', text: 'ruleVanished', values: { field: 'e' } },
    ]);
    const { allFieldsMetadata: _known, ...unknown } = contacts;
    expect(goneIn(draft, revisionOf(unknown), {})).toEqual([]);
  });

  it('stands once in place of all that svc says of a place', () => {
    const said = ['a', 'b'].map((name) => ({ at: 'read/contacts', text: { said: `no ${name}` } }));
    const other = { at: 'read/deals', text: { said: 'no' } };
    const known = goneIn(draft, revisionOf(contacts), {});
    expect(worded([...said, other], known)).toEqual([known[2], other]);
  });
});
