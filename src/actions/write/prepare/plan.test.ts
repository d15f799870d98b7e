import { describe, expect, test } from 'vitest';
import { Problem } from '../../../kit/problem.ts';
import { abilitiesOf } from '../../../providers/index.ts';
import { planAgain, planWrite, type WriteScope } from './plan.ts';
import type { PlannedRecord } from './stored.ts';
import type { WriteRequest } from '../schema.ts';

function scope(more: Partial<WriteScope> = {}): WriteScope {
  return {
    objectName: 'contacts',
    provider: 'hubspot',
    abilities: abilitiesOf('hubspot'),
    deletionEnabled: true,
    rules: { settings: {}, valueDefaults: {}, mappings: {}, unsetMappings: [] },
    limits: { recordBytes: 1000, nesting: 5 },
    ...more,
  };
}

const create: WriteRequest = { groupRef: 'g', type: 'create', record: { email: 'a@b.co' } };
const salesforce = { provider: 'salesforce', abilities: abilitiesOf('salesforce') };

function refusal(request: Partial<WriteRequest>, within: Partial<WriteScope> = {}): string {
  const planned = planWrite({ ...create, ...request }, scope(within));
  if (!('refusal' in planned)) return 'planned';
  const { code, details } = planned.refusal;
  return [code, ...(details.issues ?? []).map(({ name }) => name)].join(' ');
}

function plan(request: Partial<WriteRequest>, within: Partial<WriteScope> = {}) {
  const planned = planWrite({ ...create, ...request }, scope(within));
  if ('refusal' in planned) throw planned.refusal;
  return planned.plan;
}

const withoutRecord = { record: undefined } as unknown as Partial<WriteRequest>;
const association = {
  to: { id: '1' },
  types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 279 }],
};

describe('actions/write/plan', () => {
  test('§4.2.1 create, update and delete are planned with what each needs', () => {
    expect(plan({})).toMatchObject({
      kind: 'create',
      mode: 'synchronous',
      records: [{ fields: { email: 'a@b.co' } }],
    });
    const update = plan({ type: 'update', record: { id: '7', email: 'x' } });
    expect(update).toMatchObject({ kind: 'update', records: [{ id: '7', fields: { email: 'x' } }] });
    expect(update.records[0]?.fields).not.toHaveProperty('id');
    expect(plan({ type: 'delete', record: { id: '7' } })).toMatchObject({
      kind: 'delete',
      records: [{ id: '7', fields: {} }],
    });
  });

  test('a name that maps to another field may be id', () => {
    const rules = { settings: {}, valueDefaults: {}, mappings: { id: 'external_id' }, unsetMappings: [] };
    const planned = planWrite({ ...create, record: { id: '7' } }, scope({ rules }));
    expect(planned).toMatchObject({ plan: { records: [{ fields: { external_id: '7' } }] } });
  });

  test('an id is refused among the fields in whatever case, and stays where it is the one of the record', () => {
    expect(refusal({ record: { Id: '7', email: 'x' } })).toBe('invalid-request record.Id');
    const batch = [{ record: { email: 'x' } }, { record: { ID: '7' } }];
    expect(refusal({ ...withoutRecord, batch })).toBe('invalid-request batch[1].record.ID');
    const upsert = { type: 'upsert', upsertBy: 'email' } as const;
    expect(refusal({ ...upsert, record: { email: 'x', iD: '7' } })).toBe('invalid-request record.iD');
    const settings = { Id: { writeOnCreate: 'never' } } as const;
    const rules = { settings, valueDefaults: {}, mappings: {}, unsetMappings: [] };
    expect(refusal({ ...upsert, record: { email: 'x', Id: '7' } }, { rules })).toBe(
      'invalid-request record.Id',
    );
    const update = (Id: unknown) => ({
      type: 'update' as const,
      record: { id: '003Hs1000000001', Id, a: 1 },
    });
    expect(refusal(update('003Hs1000000002'), salesforce)).toBe('invalid-request record.Id');
    expect(refusal(update(null), salesforce)).toBe('invalid-request record.Id');
    expect(refusal(update('003Hs1000000001IAA'), salesforce)).toBe('planned');
  });

  test('what Salesforce takes for no field is refused by its name, and is a field elsewhere', () => {
    const record = { LastName: 'A', Attributes: { type: 'User' } };
    expect(refusal({ record }, salesforce)).toBe('invalid-request record.Attributes');
    const update = { type: 'update', record: { id: '003Hs1000000001', ...record } } as const;
    expect(refusal(update, salesforce)).toBe('invalid-request record.Attributes');
    const upsert = { type: 'upsert', upsertBy: 'LastName', record } as const;
    expect(refusal(upsert, { ...salesforce, provider: 'salesforceJWT' })).toBe(
      'invalid-request record.Attributes',
    );
    const batch = [{ record: { LastName: 'A' } }, { record: { attributes: 'x' } }];
    expect(refusal({ ...withoutRecord, batch }, salesforce)).toBe(
      'invalid-request batch[1].record.attributes',
    );
    expect(refusal({ record })).toBe('planned');
    const inner = { LastName: 'A', Account: { attributes: { type: 'Account' }, Key__c: '1' } };
    expect(refusal({ record: inner }, salesforce)).toBe('planned');
    const before = [{ slot: 3, record: { fields: record } }];
    expect(planAgain('create', before, scope(salesforce))).toMatchObject({
      refusal: { details: { issues: [{ name: 'records[3].Attributes' }] } },
    });
  });

  test('an id among the fields of what was planned before is refused when it is to be written again', () => {
    const again = (
      kind: 'create' | 'update' | 'upsert',
      record: PlannedRecord,
      within?: Partial<WriteScope>,
    ) => {
      const planned = planAgain(kind, [{ slot: 3, record }], scope({ ...salesforce, ...within }), 'Ext__c');
      if ('records' in planned) return planned.records;
      const { code, details } = planned.refusal;
      return [code, ...(details.issues ?? []).map(({ name }) => name), details.remedy];
    };
    const remedy = expect.stringContaining('in a new write') as string;
    const refused = ['invalid-request', 'records[3].Id', remedy];
    const fields = { Id: '003Hs1000000002', LastName: 'A' };
    expect(again('create', { fields })).toEqual(refused);
    expect(again('upsert', { key: '1', fields })).toEqual(refused);
    expect(again('update', { id: '003Hs1000000001', fields })).toEqual(refused);
    const own = { id: '003Hs1000000002', fields };
    expect(again('update', own)).toEqual([own]);
    // What the config forbids by now does not go out.
    const settings = { id: { writeOnCreate: 'never' } } as const;
    const rules = { settings, valueDefaults: {}, mappings: {}, unsetMappings: [] };
    expect(again('create', { fields }, { rules })).toEqual([{ fields: { LastName: 'A' } }]);
  });

  test.each([
    ['a create with the id of a record', { record: { id: '7', email: 'x' } }, 'invalid-request record.id'],
    [
      '§4.2.1 an update without an id',
      { type: 'update', record: { email: 'x' } },
      'invalid-request record.id',
    ],
    [
      'an id longer than any provider has',
      { type: 'update', record: { id: 'x'.repeat(256) } },
      'invalid-request record.id',
    ],
    [
      'an id with a blank',
      { type: 'update', record: { id: ' 602', email: 'x' } },
      'invalid-request record.id',
    ],
    ['§4.2.1 an empty id', { type: 'update', record: { id: ' ' } }, 'invalid-request record.id'],
    ['an update of nothing', { type: 'update', record: { id: '7' } }, 'invalid-request record'],
    ['§4.2.1 a delete without an id', { type: 'delete', record: {} }, 'invalid-request record.id'],
    [
      '§4.2.1 a delete with other fields',
      { type: 'delete', record: { id: '1', a: 2 } },
      'invalid-request record.a',
    ],
    [
      '§4.2.1 a batch delete',
      { ...withoutRecord, type: 'delete', batch: [{ record: { id: '1' } }] },
      'invalid-request batch',
    ],
    ['§4.2.2 both record and batch', { batch: [{ record: {} }] }, 'invalid-request batch'],
    ['§4.2.2 neither record nor batch', withoutRecord, 'invalid-request record'],
    [
      '§4.2.2 a batch item without an id',
      { ...withoutRecord, type: 'update', batch: [{ record: { id: '1' } }, { record: {} }] },
      'invalid-request batch[1].record.id',
    ],
    [
      '§4.2.2 batchPolicy without a batch',
      { batchPolicy: { allOrNone: true } },
      'invalid-request batchPolicy',
    ],
    [
      '§4.2.5 retryPolicy in synchronous mode',
      { retryPolicy: { deadlineHours: 1 } },
      'invalid-request retryPolicy',
    ],
    ...(
      [
        ['a batch', { ...withoutRecord, mode: 'asynchronous', batch: [{ record: {} }] }],
        ['a delete', { type: 'delete', mode: 'asynchronous', record: { id: '1' } }],
        ['synchronous mode', {}],
      ] as const
    ).map(([what, request]) => [
      `§4.2.6 autoBatchPolicy with ${what}`,
      { ...request, autoBatchPolicy: { maxDelayMinutes: 1 } },
      'invalid-request autoBatchPolicy',
    ]),
    [
      'associations beside a batch',
      { ...withoutRecord, batch: [{ record: {} }], associations: [association] },
      'invalid-request associations',
    ],
    [
      'associations on an update',
      { type: 'update', record: { id: '1' }, associations: [association] },
      'invalid-request associations',
    ],
    ['a record nested too deep', { record: { a: [[[[[1]]]]] } }, 'invalid-request record'],
    ['a record too large', { record: { a: 'x'.repeat(1000) } }, 'record-too-large record'],
  ] as [string, Partial<WriteRequest>, string][])('refuses %s', (_name, request, expected) => {
    expect(refusal(request)).toBe(expected);
  });

  test.each([
    ['associations', { associations: [association] }, 'hubspot', 'salesforce', 'associations'],
    [
      'associations of a batch item',
      { ...withoutRecord, batch: [{ record: {}, associations: [association] }] },
      'hubspot',
      'salesforce',
      'batch[0].associations',
    ],
    [
      'headers forwarding',
      { headers: [{ key: 'Sforce-Auto-Assign', value: 'FALSE' }] },
      'salesforce',
      'hubspot',
      'headers',
    ],
    ['batch write', { ...withoutRecord, batch: [{ record: {} }] }, 'hubspot', 'stripe', 'type batch'],
    ['delete', { type: 'delete', record: { id: '1' } }, 'salesforce', 'stripe', 'type'],
  ] as [string, Partial<WriteRequest>, string, string, string][])(
    '§4.2.3 %s: only where the provider supports it',
    (_name, request, has, lacks, path) => {
      expect(refusal(request, { provider: has, abilities: abilitiesOf(has) })).toBe('planned');
      expect(refusal(request, { provider: lacks, abilities: abilitiesOf(lacks) })).toBe(
        ['ability-unsupported', ...path.split(' ')].join(' '),
      );
    },
  );

  test('§4.2.3 ifEmpty: an update is refused where the provider cannot read first', () => {
    const rules = {
      settings: { a: { writeOnUpdate: 'ifEmpty' as const } },
      valueDefaults: {},
      mappings: {},
      unsetMappings: [],
    };
    const update = { type: 'update' as const, record: { id: '1', a: 2 } };
    expect(plan(update, { rules }).records[0]).toMatchObject({ ifEmpty: ['a'] });
    expect(refusal(update, { rules, abilities: { ...abilitiesOf('hubspot'), ifEmpty: false } })).toBe(
      'ability-unsupported type',
    );
  });

  test('§2.5 §7.4 a delete is refused unless deletionSettings.enabled is true', () => {
    expect(refusal({ type: 'delete', record: { id: '1' } }, { deletionEnabled: false })).toBe(
      'delete-not-enabled',
    );
    expect(refusal({ type: 'delete', record: { id: '1' } })).toBe('planned');
  });

  test('§2.6 mode: defaults to synchronous; a delete is always synchronous', () => {
    expect(plan({}).mode).toBe('synchronous');
    expect(plan({ mode: 'asynchronous' }).mode).toBe('asynchronous');
    expect(plan({ type: 'delete', record: { id: '1' }, mode: 'asynchronous' }).mode).toBe('synchronous');
  });

  test('a delete has no retryPolicy, and is not told to be asynchronous', () => {
    const remove = { type: 'delete', mode: 'asynchronous', record: { id: '1' } } as const;
    expect(() => plan({ ...remove, retryPolicy: { deadlineHours: 1 } })).toThrow('always synchronous');
  });

  test('§4.2.5 retryPolicy: the deadline is one hour unless the request says otherwise', () => {
    expect(plan({ mode: 'asynchronous' }).deadlineSeconds).toBe(3600);
    expect(plan({ mode: 'asynchronous', retryPolicy: { deadlineHours: 48 } }).deadlineSeconds).toBe(
      48 * 3600,
    );
  });

  test('§4.2.6 autoBatchPolicy: the delay, and a deadline of its own', () => {
    const gathered = { mode: 'asynchronous', retryPolicy: { deadlineHours: 48 } } as const;
    const planned = plan({ ...gathered, autoBatchPolicy: { maxDelayMinutes: 5 } });
    expect(planned).toMatchObject({ autoBatch: { maxDelaySeconds: 300 }, deadlineSeconds: 3600 });
    const longer = plan({ ...gathered, autoBatchPolicy: { maxDelayMinutes: 5, retryDeadlineHours: 3 } });
    expect(longer.deadlineSeconds).toBe(3 * 3600);
    expect(plan({ mode: 'asynchronous' }).autoBatch).toBeUndefined();
  });

  test.each([
    'Authorization',
    'host',
    'Content-Length',
    'Transfer-Encoding',
    'Cookie',
    'x-svc-project-id',
    'a b',
    '',
  ])('refuses to forward the header %j', (key) => {
    expect(refusal({ headers: [{ key, value: 'x' }] }, salesforce)).toBe(
      'header-not-forwardable headers[0].key',
    );
  });

  test.each(['a\r\nX: 1', 'a\0', 'ā'])('refuses the header value %j', (value) => {
    expect(refusal({ headers: [{ key: 'Sforce-Mru', value }] }, salesforce)).toBe(
      'header-not-forwardable headers[0].value',
    );
  });

  test('§4.2.8 refuses a record that gives one provider field two values', () => {
    const rules = { settings: {}, valueDefaults: {}, mappings: { phone: 'mobilephone' }, unsetMappings: [] };
    expect(refusal({ record: { phone: '1', mobilephone: '2' } }, { rules })).toBe(
      'invalid-request record.mobilephone',
    );
  });

  test.each([
    ['the shape of the request', { upsertBy: 'email' }, true],
    ['a header', { headers: [{ key: 'Host', value: 'x' }] }, true],
    ['the size of a record', { record: { a: 'x'.repeat(1000) } }, true],
    ['a mapped name', { record: { phone: '1', mobilephone: '2' } }, false],
    ['defaults', { type: 'update', record: { id: '1' } }, false],
    ['the field that it goes by', { type: 'upsert', upsertBy: 'phone' }, false],
  ] as [string, Partial<WriteRequest>, boolean][])(
    'says whether another config could let pass what is refused for %s',
    (_name, request, isOfRequest) => {
      const rules = {
        settings: {},
        valueDefaults: {},
        mappings: { phone: 'mobilephone' },
        unsetMappings: [],
      };
      const planned = planWrite({ ...create, ...request }, scope({ rules }));
      expect(planned).toMatchObject({ refusal: expect.any(Problem) });
      expect('isOfRequest' in planned && planned.isOfRequest).toBe(isOfRequest);
    },
  );

  test('refuses the same record id twice in a batch with allOrNone, and takes it without', () => {
    const batch = [{ record: { id: '7', a: 1 } }, { record: { id: '8', a: 1 } }, { record: { id: 7, a: 2 } }];
    const request = { ...withoutRecord, type: 'update' as const, batch };
    expect(refusal({ ...request, batchPolicy: { allOrNone: true } })).toBe(
      'record-repeated batch[2].record.id',
    );
    expect(refusal(request)).toBe('planned');
  });

  test('keeps a batch in order, with associations and references', () => {
    const batch = [{ record: { a: 1 }, reference: 'r1', associations: [association] }, { record: { a: 2 } }];
    expect(plan({ ...withoutRecord, batch, batchPolicy: { allOrNone: true } })).toMatchObject({
      form: 'batch',
      allOrNone: true,
      records: [{ fields: { a: 1 }, reference: 'r1', associations: [association] }, { fields: { a: 2 } }],
    });
  });
});
