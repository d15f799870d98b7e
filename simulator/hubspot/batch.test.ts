import { describe, expect, it } from 'vitest';
import { listOf, str, useHubspot } from './harness.fixture.ts';
import type { Loose } from './harness.fixture.ts';

const CONTACTS = '/crm/v3/objects/contacts';

describe('simulator/hubspot/batch', () => {
  const hub = useHubspot({ records: 20 });
  const count = async () => Number((await hub.sim('GET', '/data/contacts'))['count']);
  const people = (total: number, prefix: string, trace = false) =>
    Array.from({ length: total }, (_, i) => ({
      properties: { email: `${prefix}-${i}@example.com` },
      ...(trace ? { objectWriteTraceId: `t-${i}` } : {}),
    }));
  const emails = (results: Loose | undefined) =>
    listOf(results).map((one) => str(one['properties']?.['email']));

  it('creates nothing when one input without trace ids is bad', async () => {
    const before = await count();
    const inputs = [...people(3, 'none'), { properties: { nope: '1' } }];
    const bad = await hub.api('POST', `${CONTACTS}/batch/create`, { inputs });
    expect(bad.status).toBe(400);
    expect(bad.body).toMatchObject({ status: 'error', category: 'VALIDATION_ERROR' });
    const taken = { inputs: [...people(1, 'none'), { properties: { email: 'TAKEN@example.com' } }] };
    await hub.api('POST', CONTACTS, { properties: { email: 'taken@example.com' } });
    const conflict = await hub.api('POST', `/crm/objects/2026-03/contacts/batch/create`, taken);
    expect(conflict.status).toBe(409);
    expect(conflict.body['message']).toMatch(/^Contact already exists\. Existing ID: \d+$/);
    expect(await count()).toBe(before + 1);
  });

  it('creates the good ones and names the bad ones when every input has a trace id', async () => {
    const existing = await hub.api('POST', CONTACTS, { properties: { email: 'first@example.com' } });
    const bad = { properties: { email: 'first@example.com' }, objectWriteTraceId: 't-dup' };
    const answer = await hub.api('POST', `${CONTACTS}/batch/create`, {
      inputs: [...people(2, 'some', true), bad],
    });
    expect(answer.status).toBe(207);
    expect(listOf(answer.body['results'])).toHaveLength(2);
    expect(answer.body).toMatchObject({
      status: 'COMPLETE',
      numErrors: 1,
      errors: [
        {
          status: 'error',
          category: 'CONFLICT',
          message: `Contact already exists. Existing ID: ${str(existing.body['id'])}`,
          context: { objectWriteTraceId: ['t-dup'], existingId: [existing.body['id']] },
        },
      ],
    });
    const all = await hub.api('POST', `${CONTACTS}/batch/create`, { inputs: people(2, 'all-good', true) });
    expect(all.status).toBe(201);
    const traces = listOf(all.body['results']).map((one) => str(one['objectWriteTraceId']));
    expect(new Set(traces)).toEqual(new Set(['t-0', 't-1']));
  });

  it('falls back to all or nothing when one input lacks its trace id', async () => {
    const inputs = [...people(2, 'half', true), { properties: { nope: '1' } }];
    expect((await hub.api('POST', `${CONTACTS}/batch/create`, { inputs })).status).toBe(400);
  });

  it('answers results in another order than the inputs, and in order when told', async () => {
    const inputs = people(50, 'order');
    const answer = await hub.api('POST', `${CONTACTS}/batch/create`, { inputs });
    const sent = inputs.map((one) => one.properties.email);
    expect(emails(answer.body['results'])).not.toEqual(sent);
    expect(new Set(emails(answer.body['results']))).toEqual(new Set(sent));
    await hub.sim('POST', '/settings', { shuffle: false });
    const ordered = people(50, 'ordered');
    const second = await hub.api('POST', `${CONTACTS}/batch/create`, { inputs: ordered });
    await hub.sim('POST', '/settings', { shuffle: true });
    expect(emails(second.body['results'])).toEqual(ordered.map((one) => one.properties.email));
  });

  it('updates what it can and lists every missing id in one error', async () => {
    const made = await hub.api('POST', CONTACTS, { properties: { email: 'up@example.com' } });
    const id = str(made.body['id']);
    const inputs = [
      { id, properties: { city: 'Oslo' } },
      { id: '900001', properties: { city: 'Oslo' } },
      { id: '900002', properties: { city: 'Oslo' } },
    ];
    const answer = await hub.api('POST', `${CONTACTS}/batch/update`, { inputs });
    expect(answer.status).toBe(207);
    expect(answer.body).toMatchObject({
      results: [{ id, properties: { city: 'Oslo' } }],
      numErrors: 1,
      errors: [{ category: 'OBJECT_NOT_FOUND', context: { ids: ['900001', '900002'] } }],
    });
    const invalid = await hub.api('POST', `${CONTACTS}/batch/update`, {
      inputs: [{ id, properties: { nope: 'x' } }],
    });
    expect(invalid.status).toBe(207);
    expect(invalid.body).toMatchObject({
      results: [],
      errors: [{ category: 'VALIDATION_ERROR', context: { ids: [id] } }],
    });
  });

  it('refuses duplicate ids, more than 100 inputs, and no inputs at all', async () => {
    const twice = { inputs: ['501', '502', '501'].map((id) => ({ id, properties: { city: 'X' } })) };
    const duplicate = await hub.api('POST', `${CONTACTS}/batch/update`, twice);
    expect(duplicate.status).toBe(400);
    expect(duplicate.body['message']).toBe('Duplicate IDs found in batch input: [501]');
    for (const kind of ['create', 'update', 'upsert', 'read', 'archive']) {
      const inputs = people(101, 'many').map(({ properties }, i) => ({
        properties,
        id: String(i),
        idProperty: 'email',
      }));
      expect((await hub.api('POST', `${CONTACTS}/batch/${kind}`, { inputs })).status).toBe(400);
    }
    expect((await hub.api('POST', `${CONTACTS}/batch/create`, {})).status).toBe(400);
  });

  it('upserts by a unique property only, all or nothing by e-mail', async () => {
    const up = (idProperty: string, inputs: Loose[] | object[]) =>
      hub.api('POST', `${CONTACTS}/batch/upsert`, { inputs: inputs.map((one) => ({ idProperty, ...one })) });
    expect((await up('firstname', [{ id: 'x', properties: {} }])).status).toBe(400);
    const before = await count();
    const bad = [
      { id: 'new@example.com', properties: {}, objectWriteTraceId: 'a' },
      { id: 'n2@example.com', properties: { nope: '1' }, objectWriteTraceId: 'b' },
    ];
    expect((await up('email', bad)).status).toBe(400);
    expect(await count()).toBe(before);
    await hub.sim('POST', '/schema', {
      object: 'contacts',
      properties: [{ name: 'ext', hasUniqueValue: true }],
    });
    const partial = await up(
      'ext',
      bad.map((one) => Object.assign(one, { id: one.id.slice(0, 2) })),
    );
    expect(partial.status).toBe(207);
    expect(partial.body).toMatchObject({
      results: [{ new: true, properties: { ext: 'ne' }, objectWriteTraceId: 'a' }],
      errors: [{ category: 'VALIDATION_ERROR', context: { objectWriteTraceId: ['b'], ids: ['n2'] } }],
    });
  });

  it('reads what exists, and names the rest in a 207', async () => {
    const body = { inputs: [{ id: '501' }, { id: '999999' }], properties: ['email', 'unknown_property'] };
    const answer = await hub.api('POST', `${CONTACTS}/batch/read`, body);
    expect(answer.status).toBe(207);
    const [first] = listOf(answer.body['results']);
    expect(Object.keys(first?.['properties'] ?? {}).toSorted()).toEqual([
      'createdate',
      'email',
      'hs_object_id',
      'lastmodifieddate',
    ]);
    const history = await hub.api('POST', `${CONTACTS}/batch/read`, {
      inputs: people(51, 'x'),
      propertiesWithHistory: ['email'],
    });
    expect(history.status).toBe(400);
  });

  it('makes v4 associations for each pair it can', async () => {
    const spec = { associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 279 };
    const inputs = [
      { from: { id: '501' }, to: { id: '502' }, types: [spec] },
      { from: { id: '501' }, to: { id: '999999' }, types: [spec] },
      { from: { id: '501' }, to: { id: '501' }, types: [{ ...spec, associationTypeId: 99999 }] },
    ];
    const answer = await hub.api('POST', '/crm/v4/associations/contacts/companies/batch/create', { inputs });
    expect(answer.status).toBe(207);
    expect(answer.body).toMatchObject({ numErrors: 2 });
    expect(answer.text).toContain('crm.associations.INVALID_IDENTIFIER');
    expect(answer.text).toContain('one or more associations are not valid');
    const read = await hub.api('POST', '/crm/associations/2026-03/0-1/0-2/batch/read', {
      inputs: [{ id: '501' }],
    });
    expect(read.status).toBe(200);
    expect(read.text).toContain('"toObjectId":502');
    const bad = {
      properties: { email: 'links@example.com' },
      associations: [{ to: { id: '999' }, types: [spec] }],
    };
    expect((await hub.api('POST', CONTACTS, bad)).status).toBe(400);
  });

  it('refuses a whole batch of updates by a property that is not unique, before any is written', async () => {
    const { effects } = await hub.sim('GET', '/counts');
    const inputs = [
      { id: '501', properties: { city: 'Nowhere' } },
      { id: 'Berlin', idProperty: 'city', properties: { jobtitle: 'X' } },
    ];
    const answer = await hub.api('POST', '/crm/v3/objects/contacts/batch/update', { inputs });
    expect(answer).toMatchObject({ status: 400, body: { category: 'VALIDATION_ERROR' } });
    expect(answer.body['message']).toContain('city is not a unique identifier');
    expect((await hub.sim('GET', '/counts'))['effects']).toEqual(effects);
  });
});
