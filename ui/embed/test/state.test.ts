import { describe, expect, it } from 'vitest';
import type { ConfigContent, FieldMetadata, HydratedRevision, ProviderInfo } from '../../client/src/index.ts';
import { authFormOf, planConnect } from '../src/state/credentials.ts';
import { applyEdit, readConfigOf, writeConfigOf, type Edit } from '../src/state/draft.ts';
import { firstDraft, mappingQuestions, withMapping } from '../src/state/questions.ts';
import { issuesAt, masksOf, mergeDrafts, planSave } from '../src/state/save.ts';

const field = (fieldName: string, displayName: string, values?: string[]): FieldMetadata => ({
  fieldName,
  displayName,
  valueType: values ? 'singleSelect' : 'string',
  ...(values ? { values: values.map((value) => ({ value, displayValue: value.toUpperCase() })) } : {}),
});
const fields = [
  field('email', 'Email'),
  field('mobilephone', 'Phone'),
  field('lifecycle', 'Stage', ['new', 'won', 'lost']),
];
const revision: HydratedRevision = {
  id: 'r1',
  specVersion: '1.0.0',
  createTime: '2026-01-01T00:00:00Z',
  content: {
    name: 'crm',
    provider: 'hubspot',
    read: {
      objects: [
        {
          objectName: 'contacts',
          displayName: 'Contacts',
          requiredFields: [
            { fieldName: 'email', displayName: 'Email' },
            { mapToName: 'phone', mapToDisplayName: 'Phone' },
            { mapToName: 'nick', mapToDisplayName: 'Nickname' },
          ],
          allFieldsMetadata: Object.fromEntries(fields.map((one) => [one.fieldName, one])),
        },
      ],
    },
    write: { objects: [{ objectName: 'contacts', displayName: 'Contacts' }] },
  },
};
const offered = {
  contacts: [
    {
      mapToName: 'stage',
      mappedValues: [
        { mappedValue: 'new', mappedDisplayValue: 'New' },
        { mappedValue: 'gone', mappedDisplayValue: 'LOST' },
        { mappedValue: 'other', mappedDisplayValue: 'Other' },
      ],
    },
  ],
};
const filtered = (value: string): Edit => ({
  on: 'read',
  object: 'contacts',
  set: { kind: 'filters', filters: [{ fieldName: 'email', operator: 'eq', value }] },
});
const edited = (draft: ConfigContent, ...edits: Edit[]): ConfigContent =>
  edits.reduce((now, edit) => applyEdit(now, edit), draft);
const mapping = (mapToName: string, fieldName: string | undefined): Edit => ({
  on: 'read',
  object: 'contacts',
  set: { kind: 'mapping', mapToName, fieldName },
});
const whole = (): ConfigContent => edited(firstDraft(revision, offered), mapping('nick', 'email'));

describe('ui/embed/state', () => {
  it('begins with every object, and with fields and values of the same name, each value once', () => {
    const contacts = readConfigOf(firstDraft(revision, offered), 'Contacts');
    expect(contacts?.selectedFieldMappings).toEqual({ phone: 'mobilephone', stage: 'lifecycle' });
    expect(contacts?.selectedValueMappings).toEqual({ lifecycle: { new: 'new', gone: 'lost' } });
    expect(writeConfigOf(firstDraft(revision), 'contacts')).toEqual({ objectName: 'contacts' });
  });

  it('leaves what was before an edit as it was', () => {
    const before = whole();
    const copy = structuredClone(before);
    edited(
      before,
      mapping('nick', undefined),
      {
        on: 'read',
        object: 'contacts',
        set: { kind: 'fields', fieldNames: ['a', '__proto__'], selected: true },
      },
      { on: 'write', object: 'contacts', set: { kind: 'deletion', enabled: true } },
      { on: 'write', object: 'contacts', set: { kind: 'enabled', enabled: false } },
    );
    expect(before).toEqual(copy);
  });

  it('keeps a field that is called like a member of every object', () => {
    const draft = edited(whole(), {
      on: 'read',
      object: 'contacts',
      set: { kind: 'field', fieldName: '__proto__', selected: true },
    });
    expect(Object.keys(readConfigOf(draft, 'contacts')?.selectedFields ?? {})).toEqual(['__proto__']);
  });

  it('refuses to save what misses a mapping, and says where', () => {
    const plan = planSave(firstDraft(revision, offered), undefined, revision, offered);
    expect(plan).toEqual({
      kind: 'refusal',
      issues: [{ at: 'read/contacts/mapping/nick', text: 'mappingMissing' }],
    });
  });

  it('refuses a mapping that stands the wrong way round, and not one that nobody asked for', () => {
    const reversed = edited(whole(), mapping('phone', undefined), mapping('mobilephone', 'phone'));
    expect(planSave(reversed, undefined, revision, offered)).toEqual({
      kind: 'refusal',
      issues: [{ at: 'read/contacts/mapping/phone', text: 'mappingReversed' }],
    });
    const own = edited(whole(), mapping('phone', undefined), mapping('ours', 'phone'));
    expect(planSave(own, undefined, revision, offered)).toMatchObject({
      issues: [{ text: 'mappingMissing' }],
    });
    expect(planSave(edited(whole(), mapping('ours', 'nick')), undefined, revision, offered).kind).toBe(
      'create',
    );
  });

  it('refuses a filter without a value at its place, and finds where svc names one', () => {
    const draft = edited(firstDraft(revision), mapping('nick', 'email'), mapping('phone', 'mobilephone'));
    const at = 'read/contacts/filter/0';
    expect(planSave(edited(draft, filtered('')), undefined, revision)).toEqual({
      kind: 'refusal',
      issues: [{ at, text: 'filterEmpty' }],
    });
    const plan = planSave(edited(draft, filtered('a@example.com')), undefined, revision);
    expect(plan.kind).toBe('create');
    const said = [{ name: 'config.content.read.objects.contacts.fieldFilters[0].fieldName', detail: 'No.' }];
    expect(issuesAt(said)).toEqual([{ at, text: { said: 'No.' } }]);
    const without = edited(draft, filtered('x'), {
      on: 'read',
      object: 'contacts',
      set: { kind: 'filters', filters: [] },
    });
    expect(readConfigOf(without, 'contacts')).not.toHaveProperty('fieldFilters');
  });

  it.each([
    ['date', 'gestern', 'dateNeeded'],
    ['date', '31.01.2026', 'dateNeeded'],
    ['date', '2026-01-31', undefined],
    ['datetime', '2026-13-01', 'timeNeeded'],
    ['datetime', '2026-01-31T09:00:00+01:00', undefined],
    ['datetime', '1769850000000', undefined],
    ['float', '1,5', 'numberNeeded'],
    ['string', 'gestern', undefined],
  ] as const)('refuses a filter of the type %s by %s: %s', (valueType, value, text) => {
    const typed = structuredClone(revision);
    typed.content.read!.objects[0]!.allFieldsMetadata!['email']!.valueType = valueType;
    const plan = planSave(edited(whole(), filtered(value)), undefined, typed, offered);
    const issues = plan.kind === 'refusal' ? plan.issues : [];
    expect(issues).toEqual(text === undefined ? [] : [{ at: 'read/contacts/filter/0', text }]);
  });

  it('refuses a value of theirs that stands for two of ours', () => {
    const twice = edited(whole(), {
      on: 'read',
      object: 'contacts',
      set: { kind: 'values', fieldName: 'lifecycle', values: { new: 'won', other: 'won' } },
    });
    expect(planSave(twice, undefined, revision)).toMatchObject({
      issues: [{ at: 'read/contacts/values/lifecycle', text: 'valueTwice' }],
    });
  });

  it.each([
    ['the one with values first', ['tier', 'plain'], 'plain'],
    ['the one with values second', ['plain', 'tier'], 'plain'],
    ['both with values', ['tier', 'level'], 'level'],
    ['both with values, the other one first', ['level', 'tier'], 'tier'],
  ])('refuses a second question on a field whose values are translated: %s', (_title, order, refused) => {
    const values = [{ mappedValue: 'hot', mappedDisplayValue: 'New' }];
    const two = {
      contacts: [
        { mapToName: 'tier', mapToDisplayName: 'Tier', mappedValues: values },
        { mapToName: 'plain' },
        { mapToName: 'level', mappedValues: [{ mappedValue: 'cold', mappedDisplayValue: 'new' }] },
      ],
    };
    const [object] = revision.content.read?.objects ?? [];
    const questions = mappingQuestions(object!, two.contacts);
    const choose = (draft: ConfigContent, mapToName: string, fieldName: string | undefined) => {
      const question = questions.find((one) => one.mapToName === mapToName)!;
      return withMapping(draft, object!, questions, { question, fieldName });
    };
    const start = edited(firstDraft(revision, two), mapping('nick', 'email'));
    const both = order.reduce((draft, name) => choose(draft, name, 'lifecycle'), start);
    const first = order.find((name) => name !== refused);
    const kept = first === 'tier' ? { hot: 'new' } : { cold: 'new' };
    expect(readConfigOf(both, 'contacts')?.selectedValueMappings).toEqual({ lifecycle: kept });
    const at = `read/contacts/mapping/${refused}`;
    const name = first === 'tier' ? 'Tier' : 'level';
    const refusal = { kind: 'refusal', issues: [{ at, text: 'fieldTranslated', values: { name } }] };
    expect(planSave(both, undefined, revision, two)).toEqual(refusal);
    expect(planSave(both, start, revision, two)).toEqual(refusal);
    // Another field mends it, and what the first one translates stays.
    const mended = choose(both, refused, 'email');
    expect(readConfigOf(mended, 'contacts')?.selectedValueMappings).toMatchObject({ lifecycle: kept });
    expect(planSave(mended, undefined, revision, two).kind).toBe('create');
    // Without a translation two may share a field.
    const shared = choose(choose(start, 'plain', 'email'), 'tier', 'email');
    expect(planSave(shared, undefined, revision, two).kind).toBe('create');
  });

  it('names what changed, and escapes what a mask would split', () => {
    const base = whole();
    expect(planSave(base, structuredClone(base), revision).kind).toBe('nothing');
    const odd = edited(base, { on: 'read', object: 'a.b:c', set: { kind: 'enabled', enabled: true } });
    expect(masksOf(odd, base)).toEqual([String.raw`config.content.read.objects.a\.b\:c`]);
    const less = edited(base, { on: 'write', object: 'contacts', set: { kind: 'enabled', enabled: false } });
    expect(masksOf(less, base)).toEqual(['config.content.write.objects']);
  });

  it('keeps the changes of two people that meet on different objects, and asks where they meet on one', () => {
    const base = whole();
    const deletes: Edit = { on: 'write', object: 'contacts', set: { kind: 'deletion', enabled: true } };
    const theirs = edited(base, deletes);
    const mine = edited(base, mapping('nick', 'mobilephone'));
    expect(mergeDrafts(base, mine, theirs)).toEqual({
      kind: 'merged',
      content: edited(base, deletes, mapping('nick', 'mobilephone')),
    });
    expect(mergeDrafts(base, mine, edited(base, mapping('nick', undefined)))).toEqual({
      kind: 'conflict',
      objects: ['read/contacts'],
    });
    const theirMapping = mapping('nick', undefined);
    for (const [prefer, held] of [
      ['mine', mapping('nick', 'mobilephone')],
      ['theirs', theirMapping],
    ] as const)
      expect(mergeDrafts(base, mine, edited(base, deletes, theirMapping), prefer)).toEqual({
        kind: 'merged',
        content: edited(base, deletes, held),
      });
    const without = edited(base, {
      on: 'write',
      object: 'contacts',
      set: { kind: 'enabled', enabled: false },
    });
    expect(mergeDrafts(base, mine, without)).toMatchObject({
      kind: 'merged',
      content: { write: { objects: {} } },
    });
  });

  it('finds the place of each issue of svc in the form', () => {
    const at = (name: string) => issuesAt([{ name, detail: '' }])[0]?.at;
    const path = 'config.content.read.objects.contacts';
    expect(at(`${path}.selectedFieldMappings.nick`)).toBe('read/contacts/mapping/nick');
    expect(at(`installation.${path}.selectedValueMappings.stage`)).toBe('read/contacts/values/stage');
    expect(at(`${path}.schedule`)).toBe('read/contacts');
    expect(at('config.content.write.objects.contacts.selectedFieldSettings.city.writeOnUpdate')).toBe(
      'write/contacts/settings/city',
    );
    expect(at('groupRef')).toBe('form');
  });

  const provider = (given: object): ProviderInfo =>
    ({ name: 'p', displayName: 'P', ...given }) as ProviderInfo;
  it.each([
    [{ authType: 'none' }, {}, {}],
    [{ authType: 'apiKey' }, { apiKey: ' k ' }, { apiKey: 'k' }],
    [{ authType: 'basic', basicOpts: { apiKeyAsBasic: true } }, { apiKey: 'k' }, { apiKey: 'k' }],
    [
      { authType: 'basic' },
      { 'basicAuth.username': 'u', 'basicAuth.password': 'p' },
      { basicAuth: { username: 'u', password: 'p' } },
    ],
    [
      { authType: 'oauth2', oauth2Opts: { grantType: 'clientCredentials' } },
      {
        'oauth2ClientCredentials.clientId': 'i',
        'oauth2ClientCredentials.clientSecret': 's',
        'oauth2ClientCredentials.scopes': 'a, b',
      },
      { oauth2ClientCredentials: { clientId: 'i', clientSecret: 's', scopes: ['a', 'b'] } },
    ],
    [
      { authType: 'oauth2', oauth2Opts: { grantType: 'password' } },
      {
        'oauth2PasswordCredentials.username': 'u',
        'oauth2PasswordCredentials.password': 'p',
        'oauth2PasswordCredentials.clientId': 'i',
        'oauth2PasswordCredentials.clientSecret': 's',
      },
      { oauth2PasswordCredentials: { username: 'u', password: 'p', clientId: 'i', clientSecret: 's' } },
    ],
    [
      {
        authType: 'custom',
        customOpts: { inputs: [{ name: 'region' }, { name: 'secret' }] },
        metadata: { input: [{ name: 'workspace', displayName: 'Subdomain' }] },
      },
      { 'customAuth.region': 'eu', 'customAuth.secret': 's', 'providerMetadata.workspace': 'acme' },
      {
        providerMetadata: { workspace: { value: 'acme', source: 'input' } },
        customAuth: { region: 'eu', secret: 's' },
      },
    ],
  ])('connects by %j with what is typed, and not without', (about, typed, request) => {
    const form = authFormOf(provider(about));
    expect(planConnect(form, typed)).toEqual({ kind: 'generate', request, masks: Object.keys(request) });
    const required = form.fields.filter(({ isRequired }) => isRequired).map(({ path }) => path);
    const without = planConnect(form, {});
    expect(without.kind === 'refusal' ? without.missing : []).toEqual(required);
  });

  it.each([true, false])('asks for the account before a sign-in as the provider needs it: %s', (isNeeded) => {
    const metadata = { input: [{ name: 'workspace', displayName: 'My Domain' }] };
    const oauth2Opts = { grantType: 'authorizationCodePKCE', explicitWorkspaceRequired: isNeeded };
    const form = authFormOf(provider({ authType: 'oauth2', oauth2Opts, metadata }));
    expect(form.fields.map(({ path, isRequired }) => [path, isRequired])).toEqual([
      ['providerMetadata.workspace', isNeeded],
    ]);
    expect(planConnect(form, {}).kind).toBe(isNeeded ? 'refusal' : 'oauth');
  });

  it('signs in at the provider where it has a page for it, in the account that is named', () => {
    const oauth2Opts = { grantType: 'authorizationCodePKCE', explicitWorkspaceRequired: true };
    const form = authFormOf(provider({ authType: 'oauth2', oauth2Opts }));
    expect(planConnect(form, { providerWorkspaceRef: 'acme' })).toEqual({
      kind: 'oauth',
      place: { providerWorkspaceRef: 'acme' },
    });
  });
});
