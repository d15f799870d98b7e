import { describe, expect, it } from 'vitest';
import type { ManifestIntegration } from '../../projects/schema.ts';
import { samplesOf } from './sampling.ts';
import type { ConfigContent, ReadObjectConfig } from './schema.ts';

const manifest: ManifestIntegration = {
  name: 'crm',
  provider: 'hubspot',
  read: {
    objects: [
      {
        objectName: 'contact',
        destination: 'hook',
        requiredFields: [{ fieldName: 'email' }, { mapToName: 'nick' }],
      },
      { objectName: 'company', destination: 'hook', schedule: '0 * * * *' },
    ],
  },
};

const reading = (...objects: ReadObjectConfig[]): ConfigContent => ({
  provider: 'hubspot',
  read: { objects: Object.fromEntries(objects.map((object) => [object.objectName, object])) },
});
const contact: ReadObjectConfig = {
  objectName: 'contact',
  schedule: '0 * * * *',
  selectedFields: { city: true, zip: false, "$['a']['b']": true },
  selectedFieldMappings: { nick: 'firstname' },
};
const company: ReadObjectConfig = { objectName: 'company', selectedFields: { name: true } };

function sampled(content: ConfigContent, previous?: ConfigContent): Record<string, string[]> {
  return Object.fromEntries(
    samplesOf(content, manifest, previous).map(({ objectName, fields }) => [objectName, fields]),
  );
}

describe('installations/config/sampling', () => {
  it('§4.1 sample: every scheduled and enabled object on create, with required, selected and mapped fields', () => {
    expect(sampled(reading(contact, company))).toEqual({
      contact: ["$['a']['b']", 'city', 'email', 'firstname'],
      company: ['name'],
    });
  });

  it('§4.1 sample: not an object that is disabled or has no schedule', () => {
    const { schedule: _, ...unscheduled } = contact;
    expect(sampled(reading(unscheduled, { ...company, disabled: true }))).toEqual({});
  });

  it('§4.4 sample: after a change only what is new, newly scheduled, enabled again or reads other fields', () => {
    const before = reading(contact, company);
    expect(sampled(before, before)).toEqual({});
    expect(sampled(reading({ ...contact, schedule: '30 * * * *' }, company), before)).toEqual({});
    expect(Object.keys(sampled(reading({ ...contact, selectedFields: {} }, company), before))).toEqual([
      'contact',
    ]);
    const filtered = {
      ...company,
      fieldFilters: [{ fieldName: 'city', operator: 'eq', value: 'Oslo' } as const],
    };
    expect(samplesOf(reading(contact, filtered), manifest, before)).toMatchObject([
      { objectName: 'company', filters: filtered.fieldFilters },
    ]);
    expect(Object.keys(sampled(before, reading(contact)))).toEqual(['company']);
    expect(Object.keys(sampled(before, reading(contact, { ...company, disabled: true })))).toEqual([
      'company',
    ]);
  });
});
