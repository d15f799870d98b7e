import { describe, expect, it } from 'vitest';
import type { ManifestIntegration } from '../../projects/schema.ts';
import type { ObjectDescription } from '../../providers/index.ts';
import { namedFields, unknownFieldIssues } from './named-fields.ts';
import type { ConfigContent } from './schema.ts';

const manifest: ManifestIntegration = {
  name: 'crm',
  provider: 'hubspot',
  read: {
    objects: [
      {
        objectName: 'contact',
        destination: 'hook',
        optionalFields: [{ fieldName: 'mobilephone', mapToName: 'cell' }],
      },
    ],
  },
  write: { objects: [{ objectName: 'contact', inheritMapping: true }] },
};
const write = (inheritMapping?: boolean): ConfigContent['write'] => ({
  objects: {
    contact: {
      objectName: 'contact',
      ...(inheritMapping === undefined ? {} : { inheritMapping }),
      selectedFieldSettings: { mail: {}, cell: {}, city: {} },
    },
  },
});
const content: ConfigContent = {
  provider: 'hubspot',
  read: {
    objects: {
      contact: {
        objectName: 'contact',
        selectedFields: { city: true, zip: false, "$['address']['street']": true },
        selectedFieldMappings: { mail: 'email' },
        fieldFilters: [{ fieldName: 'stage', operator: 'eq', value: 'x' }],
        backfill: {
          defaultPeriod: { days: 1 },
          fieldFilters: [{ fieldName: 'owner', operator: 'eq', value: 1 }],
        },
      },
      company: { objectName: 'company', selectedFieldsAuto: 'all' },
    },
  },
};

function names(changed: Partial<ConfigContent>): string[] {
  return namedFields({ ...content, ...changed }, manifest).flatMap(({ objectName, fields }) =>
    fields.map(
      ({ path, fieldName }) => `${objectName} ${path.replace('config.content.', '')} → ${fieldName}`,
    ),
  );
}

describe('installations/config/named-fields', () => {
  it('§2.4 fields: those selected, mapped and filtered are named, with their place', () => {
    expect(names({})).toEqual([
      'contact read.objects.contact.selectedFields.city → city',
      "contact read.objects.contact.selectedFields.$['address']['street'] → $['address']['street']",
      'contact read.objects.contact.selectedFieldMappings.mail → email',
      'contact read.objects.contact.fieldFilters[0].fieldName → stage',
      'contact read.objects.contact.backfill.fieldFilters[0].fieldName → owner',
    ]);
  });

  it("§2.5 selectedFieldSettings: with the manifest's inheritMapping, mapped names stand for the provider's", () => {
    expect(names({ write: write() }).slice(5)).toEqual([
      'contact write.objects.contact.selectedFieldSettings.mail → email',
      'contact write.objects.contact.selectedFieldSettings.cell → mobilephone',
      'contact write.objects.contact.selectedFieldSettings.city → city',
    ]);
  });

  it("§2.5 inheritMapping: the config's false wins over the manifest's true", () => {
    expect(names({ write: write(false) }).slice(5)).toEqual([
      'contact write.objects.contact.selectedFieldSettings.mail → mail',
      'contact write.objects.contact.selectedFieldSettings.cell → cell',
      'contact write.objects.contact.selectedFieldSettings.city → city',
    ]);
  });

  it('names the path of a field that the provider does not have, and the one that was meant; neither case nor what is nested matters', () => {
    const field = (fieldName: string) => ({
      fieldName,
      displayName: fieldName,
      valueType: 'string' as const,
    });
    const description: ObjectDescription = {
      name: 'contact',
      displayName: 'Contact',
      fields: {
        city: field('City'),
        email: field('email'),
        stage: field('stage'),
        address: field('address'),
        id: field('hs_object_id'),
      },
    };
    const [contact] = namedFields(content, manifest);
    const fields = [...contact!.fields, { path: 'p', fieldName: 'emaill' }, { path: 'q', fieldName: 'id' }];
    expect(unknownFieldIssues({ ...contact!, fields }, description)).toEqual([
      {
        in: 'body',
        name: 'config.content.read.objects.contact.backfill.fieldFilters[0].fieldName',
        detail: 'contact has no field "owner" at the provider',
        value: 'owner',
      },
      {
        in: 'body',
        name: 'p',
        detail: 'contact has no field "emaill" at the provider; did you mean "email"?',
        value: 'emaill',
      },
    ]);
  });
});
