import { describe, expect, it } from 'vitest';
import type { ManifestIntegration } from '../../projects/schema.ts';
import { checkContent, createdByIssues, createdByOf } from './check.ts';
import type { CheckContext } from './context.ts';
import type { ConfigContent, FieldSetting, ReadObjectConfig } from './schema.ts';

const manifest: ManifestIntegration = {
  name: 'crm',
  provider: 'hubspot',
  read: {
    objects: [
      {
        objectName: 'contact',
        destination: 'hook',
        optionalFields: [{ fieldName: 'mobilephone', mapToName: 'cell' }, { mapToName: 'nickname' }],
      },
      {
        objectName: 'company',
        destination: 'hook',
        requiredFields: [{ fieldName: 'name' }, { mapToName: 'industry' }],
      },
    ],
  },
  write: { objects: [{ objectName: 'contact' }] },
};
const context: CheckContext = {
  provider: 'hubspot',
  manifest,
  abilities: { ifEmpty: true, delete: true, readAssociations: true },
};

function issuesOf(content: Partial<ConfigContent>, changed: Partial<CheckContext> = {}): [string, string][] {
  const issues = checkContent({ provider: 'hubspot', ...content }, { ...context, ...changed });
  return issues.map(({ name, detail }) => [name.replace('config.content.', ''), detail]);
}

const readingContact = (config: Partial<ReadObjectConfig>, objectName = 'contact') => ({
  read: { objects: { contact: { objectName, selectedFields: { email: true }, ...config } } },
});
const settingEmail = (setting: FieldSetting) => ({
  write: { objects: { contact: { objectName: 'contact', selectedFieldSettings: { email: setting } } } },
});
const at = (path: string) => `read.objects.contact.${path}`;

describe('installations/config/check', () => {
  describe('§2.3 provider', () => {
    it('§2.3 provider: accepts the provider of the integration', () => {
      expect(issuesOf({})).toEqual([]);
    });
    it('§2.3 provider: refuses another one', () => {
      expect(issuesOf({ provider: 'salesforce' })).toEqual([
        ['provider', 'must be "hubspot", the provider of the integration'],
      ]);
    });
  });

  it('refuses the character that cannot be kept, where it stands', () => {
    const filters = [{ fieldName: 'email', operator: 'eq', value: 'a\0' }] as const;
    const found = issuesOf(readingContact({ destination: 'a\0b', fieldFilters: [...filters] }));
    expect(found.map(([name]) => name)).toEqual([at('destination'), at('fieldFilters[0].value')]);
  });

  describe('§2.3 proxy', () => {
    it('§2.3 proxy: enabled is accepted when the integration enables it', () => {
      expect(
        issuesOf({ proxy: { enabled: true } }, { manifest: { ...manifest, proxy: { enabled: true } } }),
      ).toEqual([]);
    });
    it('§2.3 proxy: may always be switched off', () => {
      expect(issuesOf({ proxy: { enabled: false } })).toEqual([]);
    });
    it('§2.3 proxy: enabled is refused when the integration does not enable it', () => {
      expect(issuesOf({ proxy: { enabled: true } }).map(([name]) => name)).toEqual(['proxy.enabled']);
    });
  });

  describe('§2.4 objectName', () => {
    it('§2.4 objectName: accepts an object of the manifest under any key', () => {
      expect(
        issuesOf({ read: { objects: { people: { objectName: 'contact', selectedFieldsAuto: 'all' } } } }),
      ).toEqual([]);
    });
    it('§2.4 objectName: refuses an object that the manifest does not declare, and suggests the nearest', () => {
      expect(issuesOf(readingContact({}, 'Contacts'))).toEqual([
        [at('objectName'), 'is not declared under read.objects of the integration; did you mean "contact"?'],
      ]);
    });
    it('§2.4 objectName: says which object is meant by the name that the manifest maps it to', () => {
      const named = { ...manifest, read: { objects: [{ objectName: 'contact', mapToName: 'people' }] } };
      const words = 'of the integration: People is your name of contact, for what is read; use "contact"';
      expect(issuesOf(readingContact({}, 'People'), { manifest: named })).toEqual([
        [at('objectName'), `is not declared under read.objects ${words}`],
      ]);
      const content = { write: { objects: { a: { objectName: 'People' } } } };
      expect(issuesOf(content, { manifest: named })).toEqual([
        ['write.objects.a.objectName', `is not declared under write.objects ${words}`],
      ]);
    });
    it('§2.4 objectName: refuses one object under two keys', () => {
      const config = { objectName: 'contact', selectedFieldsAuto: 'all' as const };
      expect(issuesOf({ read: { objects: { contact: config, people: config } } })).toEqual([
        ['read.objects.people.objectName', 'is configured twice: "contact" names the same object'],
      ]);
    });
    it('§2.4 objectName: an object that a later revision dropped may stay in the config', () => {
      const content = readingContact({}, 'ticket');
      const previous: ConfigContent = { provider: 'hubspot', ...content };
      expect(issuesOf(content)).toHaveLength(1);
      expect(issuesOf(content, { previous })).toEqual([]);
    });
  });

  describe('§2.4 schedule', () => {
    it.each(['*/10 * * * *', '0 3 * * 1', '0,30 8-18 * * 1-5'])('§2.4 schedule: accepts %s', (schedule) => {
      expect(issuesOf(readingContact({ schedule }))).toEqual([]);
    });
    it.each([
      '* * * * *',
      '*/5 * * * *',
      '0,55 * * * *',
      '0 0 3 * * *',
      'hourly',
      '',
      '61 * * * *',
      '0 0 31 2 *',
    ])('§2.4 schedule: refuses "%s"', (schedule) => {
      expect(issuesOf(readingContact({ schedule })).map(([name]) => name)).toEqual([at('schedule')]);
    });
  });

  describe('§7.3 backfill', () => {
    it.each([
      { days: 0 },
      { days: 30 },
      { fullHistory: true },
      { fullHistory: true, days: 5 },
      { fullHistory: false, days: 5 },
    ])('§7.3 backfill: accepts %j', (defaultPeriod) => {
      expect(issuesOf(readingContact({ backfill: { defaultPeriod } }))).toEqual([]);
    });
    it('§7.3 backfill: refuses neither days nor fullHistory', () => {
      expect(issuesOf(readingContact({ backfill: { defaultPeriod: {} } }))).toEqual([
        [at('backfill.defaultPeriod.days'), 'is required when fullHistory is not set; set one of the two'],
      ]);
    });
    it('§7.3 backfill: refuses fullHistory false without days', () => {
      expect(issuesOf(readingContact({ backfill: { defaultPeriod: { fullHistory: false } } }))).toEqual([
        [at('backfill.defaultPeriod.days'), 'is required when fullHistory is false'],
      ]);
    });
  });

  describe('§2.4 fieldFilters', () => {
    const filter = (fieldName: string) => ({ fieldName, operator: 'eq' as const, value: 'x' });
    it('§2.4 fieldFilters: accepts one condition for each field, in the object and again in its backfill', () => {
      const fieldFilters = [filter('email'), filter('city')];
      const backfill = { defaultPeriod: { days: 1 }, fieldFilters };
      expect(issuesOf(readingContact({ fieldFilters, backfill }))).toEqual([]);
    });
    it('§2.4 fieldFilters: refuses a second condition for a field', () => {
      const fieldFilters = [filter('email'), filter('city'), filter('Email')];
      const backfill = { defaultPeriod: { days: 1 }, fieldFilters: [filter('a'), filter('a')] };
      expect(issuesOf(readingContact({ fieldFilters, backfill })).map(([name]) => name)).toEqual([
        at('fieldFilters[2].fieldName'),
        at('backfill.fieldFilters[1].fieldName'),
      ]);
    });
  });

  describe('§2.4 selectedFields', () => {
    it.each<Partial<ReadObjectConfig>>([
      { selectedFields: { email: true } },
      { selectedFields: {}, selectedFieldMappings: { mail: 'email' } },
      { selectedFields: {}, selectedFieldsAuto: 'all' },
    ])('§2.4 selectedFields: accepts %j', (config) => {
      expect(issuesOf(readingContact(config))).toEqual([]);
    });
    it("§2.4 selectedFields: the manifest's required fields are enough", () => {
      const company = { objectName: 'company', selectedFieldMappings: { industry: 'industry' } };
      expect(issuesOf({ read: { objects: { company } } })).toEqual([]);
    });
    it.each<Record<string, boolean>>([{}, { email: false }])(
      '§2.4 selectedFields: refuses an object without any field, %j',
      (selectedFields) => {
        expect(issuesOf(readingContact({ selectedFields })).map(([name]) => name)).toEqual([
          at('selectedFields'),
        ]);
      },
    );
  });

  describe('§2.4 field paths', () => {
    it('§2.4 field paths: accepts nested names in brackets', () => {
      const selectedFields = { "$['address']['city']": true };
      expect(
        issuesOf(readingContact({ selectedFields, selectedFieldMappings: { "$['a']['b']": 'email' } })),
      ).toEqual([]);
    });
    it('§2.4 field paths: refuses any other form that starts with $', () => {
      const selectedFieldMappings = { ok: '$[]' };
      expect(
        issuesOf(readingContact({ selectedFields: { '$.a': true }, selectedFieldMappings })).map(
          ([name]) => name,
        ),
      ).toEqual([at('selectedFields.$.a'), at('selectedFieldMappings.ok')]);
    });
  });

  describe('§2.4 selectedFieldMappings', () => {
    it('§2.4 selectedFieldMappings: refuses when a mapping that the manifest requires is missing', () => {
      expect(issuesOf({ read: { objects: { company: { objectName: 'company' } } } })).toEqual([
        [
          'read.objects.company.selectedFieldMappings.industry',
          'is required: the integration asks the customer to map this field',
        ],
      ]);
    });
    it('§2.4 selectedFieldMappings: two names may share one field, and a fixed mapping may be repeated', () => {
      const selectedFieldMappings = { nickname: 'firstname', called: 'firstname', cell: 'mobilephone' };
      expect(issuesOf(readingContact({ selectedFieldMappings }))).toEqual([]);
    });
    it.each<Record<string, string>>([{ cell: 'phone' }, { Cell: 'mobilephone' }, { nick: 'a', NICK: 'b' }])(
      '§2.4 selectedFieldMappings: refuses two mappings to one name, %j',
      (selectedFieldMappings) => {
        const names = issuesOf(readingContact({ selectedFieldMappings })).map(([name]) => name);
        expect(names).toEqual([at(`selectedFieldMappings.${Object.keys(selectedFieldMappings).at(-1)}`)]);
      },
    );
    it('§2.4 dynamicMappingsInput: refuses one name offered twice', () => {
      const dynamicMappingsInput = [{ mapToName: 'nick' }, { mapToName: 'cell' }, { mapToName: 'nick' }];
      expect(issuesOf(readingContact({ dynamicMappingsInput }))).toEqual([
        [at('dynamicMappingsInput[2].mapToName'), 'is offered twice'],
      ]);
    });
  });

  describe('§2.4 selectedValueMappings', () => {
    it('§2.4 selectedValueMappings: accepts one to one', () => {
      expect(
        issuesOf(
          readingContact({ selectedValueMappings: { stage: { won: 'closedwon', lost: 'closedlost' } } }),
        ),
      ).toEqual([]);
    });
    it('§2.4 selectedValueMappings: refuses two delivered values for one value of the provider', () => {
      expect(
        issuesOf(readingContact({ selectedValueMappings: { stage: { won: 'closed', lost: 'closed' } } })),
      ).toEqual([
        [at('selectedValueMappings.stage.lost'), 'is not one to one: "won" stands for the same value'],
      ]);
    });
  });

  describe('§2.5 write', () => {
    const enabling = (enabled: boolean) => ({
      write: { objects: { contact: { objectName: 'contact', deletionSettings: { enabled } } } },
    });
    it('§2.5 objectName: refuses an object that the manifest does not declare for writing', () => {
      expect(issuesOf({ write: { objects: { company: { objectName: 'company' } } } })).toEqual([
        ['write.objects.company.objectName', 'is not declared under write.objects of the integration'],
      ]);
    });
    it('§2.5 deletionSettings: accepted when the provider can delete, and switched off always', () => {
      expect(issuesOf(enabling(true))).toEqual([]);
      expect(
        issuesOf(enabling(false), { abilities: { ifEmpty: false, delete: false, readAssociations: true } }),
      ).toEqual([]);
    });
    it('§2.5 deletionSettings: refused when the provider cannot delete', () => {
      expect(
        issuesOf(enabling(true), {
          abilities: { ifEmpty: false, delete: false, readAssociations: true },
        }).map(([name]) => name),
      ).toEqual(['write.objects.contact.deletionSettings.enabled']);
    });
    it.each<FieldSetting>([
      {},
      { default: {} },
      { default: { stringValue: 'x' } },
      { default: { integerValue: 0 } },
      { default: { booleanValue: false } },
      { writeOnCreate: 'never', writeOnUpdate: 'never' },
      { writeOnUpdate: 'ifEmpty' },
    ])('§2.5 field setting: accepts %j', (setting) => {
      expect(issuesOf(settingEmail(setting))).toEqual([]);
    });
    it('§2.5 field setting: refuses a default with two values', () => {
      expect(issuesOf(settingEmail({ default: { stringValue: '1', integerValue: 1 } }))).toEqual([
        [
          'write.objects.contact.selectedFieldSettings.email.default',
          'has stringValue and integerValue; at most one of them may be given',
        ],
      ]);
    });
    it('§2.5 field setting: refuses ifEmpty for a provider without it', () => {
      const abilities = { ifEmpty: false, delete: true, readAssociations: true };
      expect(issuesOf(settingEmail({ writeOnUpdate: 'ifEmpty' }), { abilities })).toEqual([
        [
          'write.objects.contact.selectedFieldSettings.email.writeOnUpdate',
          '"ifEmpty" is not supported for hubspot',
        ],
      ]);
    });
  });

  describe('§2.2 createdBy', () => {
    it('names who changes a config without saying so', () => {
      const caller = { keyId: 'k1' };
      expect(createdByOf({ ...caller, kind: 'apiKey' })).toBe('api:k1');
      expect(createdByOf({ ...caller, kind: 'jwt' })).toBe('api:k1');
      expect(createdByOf({ ...caller, kind: 'jwt', consumerRef: 'ada' })).toBe('consumer:ada');
      expect(createdByOf({ kind: 'person', keyId: 'p1' })).toBe('builder:p1');
    });

    it.each([undefined, 'consumer:1', 'builder:a b', 'api:create-installation'])(
      '§2.2 createdBy: accepts %s',
      (createdBy) => {
        expect(createdByIssues(createdBy, {})).toEqual([]);
      },
    );
    it.each(['', 'me', 'consumer:', 'api: ', 'user:1', ' api:x'])(
      '§2.2 createdBy: refuses "%s"',
      (createdBy) => {
        expect(createdByIssues(createdBy, {}).map((issue) => issue.name)).toEqual(['config.createdBy']);
      },
    );

    it('an end user is the only one whom his token may name', () => {
      const ada = { consumerRef: 'ada' };
      expect(createdByIssues('consumer:ada', ada)).toEqual([]);
      expect(createdByIssues(undefined, ada)).toEqual([]);
      for (const other of ['consumer:eve', 'builder:1', 'api:x'])
        expect(createdByIssues(other, ada).map((issue) => issue.name)).toEqual(['config.createdBy']);
    });
  });
});
