import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, during, effects, install, simulator, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

const range = (size: number) => Array.from({ length: size }, (_, index) => index);

describe('test/journeys/write-batch', () => {
  let test: TestDatabase;
  let platform: Platform;
  let hubspot: Customer;
  let salesforce: Customer;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    hubspot = await install(platform, 'hubspot-crm', 'acme');
    salesforce = await install(platform, 'salesforce-crm', 'acme');
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const contacts = (prefix: string, size: number) =>
    range(size).map((index) => ({
      record: { email: `${prefix}${index}@example.com` },
      reference: `r${index}`,
    }));
  const createdBy = async (prefix: string): Promise<number> =>
    (await effects(platform.hubspot, 'contacts')).filter(
      ({ kind, fields }) => kind === 'create' && String(fields['email']).startsWith(prefix),
    ).length;

  it('§4.2.2, §8 a batch of 100 is one call; results stand in the order of the input though HubSpot shuffles them', async () => {
    const batch = contacts('all', 100);
    const { result: answer, requests } = await during(platform.hubspot, () =>
      hubspot.write('contacts', { type: 'create', batch }),
    );
    expect(answer).toMatchObject({
      status: 200,
      body: { operationId: expect.any(String), successCount: 100, failureCount: 0, errors: [] },
    });
    expect(requests).toHaveLength(1);
    expect(answer.body.results?.map(({ reference }) => reference)).toEqual(
      batch.map(({ reference }) => reference),
    );
    for (const index of [0, 17, 99]) {
      const kept = await simulator<{ properties: { email: string } }>(
        platform.hubspot,
        'GET',
        `/data/contacts/${answer.body.results?.[index]?.recordId}`,
      );
      expect(kept.properties.email).toBe(`all${index}@example.com`);
    }
  });

  it('§4.2.2 a batch is partial by default: what works is done, each failure has its reason', async () => {
    const batch = [
      ...contacts('part', 3),
      { record: { email: 'part1@example.com' }, reference: 'again' },
      { record: { email: 'part9@example.com', nope: 1 }, reference: 'bad' },
    ];
    const answer = await hubspot.write('contacts', { type: 'create', batch });
    expect(answer.status).toBe(200);
    const results = answer.body.results ?? [];
    expect(results.map(({ reference }) => reference)).toEqual(['r0', 'r1', 'r2', 'again', 'bad']);
    expect(results[0]).toMatchObject({ success: true, recordId: expect.any(String) });
    expect(results[4]).toMatchObject({ success: false, errors: [{ category: 'validation' }] });
    expect(answer.body).toMatchObject({ successCount: 3, failureCount: 2 });
    expect(await createdBy('part')).toBe(3);
    expect(await hubspot.operation(answer.body.operationId)).toMatchObject({
      status: 'success',
      counts: { total: 5, succeeded: 3, failed: 2 },
    });
  });

  it('§4.2.2, §2.6 with allOrNone one bad record fails the whole batch: HubSpot create', async () => {
    const batch = [...contacts('none', 3), { record: { email: 'none8@example.com', nope: 1 } }];
    const answer = await hubspot.write('contacts', {
      type: 'create',
      batch,
      batchPolicy: { allOrNone: true },
    });
    expect(answer).toMatchObject({ status: 422, body: { successCount: 0, failureCount: 4 } });
    expect(await createdBy('none')).toBe(0);
    expect(await hubspot.operation(answer.body.operationId)).toMatchObject({ status: 'failure' });
  });

  it('§4.2.2 Salesforce: partial by default, all or none when asked, create and update', async () => {
    const batch = [
      { record: { LastName: 'One' } },
      { record: { FirstName: 'Nameless' } },
      { record: { LastName: 'Three' } },
    ];
    const partial = await salesforce.write('Contact', { type: 'create', batch });
    expect(partial).toMatchObject({ status: 200, body: { successCount: 2, failureCount: 1 } });
    expect(partial.body.results?.map(({ success }) => success)).toEqual([true, false, true]);
    const none = await salesforce.write('Contact', {
      type: 'create',
      batch,
      batchPolicy: { allOrNone: true },
    });
    expect(none).toMatchObject({ status: 422, body: { successCount: 0, failureCount: 3 } });
    const ids = [partial.body.results?.[0]?.recordId, partial.body.results?.[2]?.recordId];
    const updates = [
      ...ids.map((id) => ({ record: { id, FirstName: 'Ada' } })),
      { record: { id: ids[0]?.replace(/.{6}$/, 'zzzAAA'), FirstName: 'Ada' } },
    ];
    const rolledBack = await salesforce.write('Contact', {
      type: 'update',
      batch: updates,
      batchPolicy: { allOrNone: true },
    });
    expect(rolledBack).toMatchObject({ status: 422, body: { successCount: 0 } });
    const changed = await salesforce.write('Contact', { type: 'update', batch: updates });
    expect(changed.body.results?.map(({ success }) => success)).toEqual([true, true, false]);
  });

  it('§4.2.2 a HubSpot batch update gives partial success whatever allOrNone says, and warns', async () => {
    const made = await hubspot.write('contacts', { type: 'create', batch: contacts('upd', 2) });
    const batch = [
      ...(made.body.results ?? []).map(({ recordId }) => ({ record: { id: recordId, firstname: 'Ada' } })),
      { record: { id: '999999999', firstname: 'X' } },
    ];
    const answer = await hubspot.write<{
      warnings: { message: string }[];
      successCount: number;
      results: { success: boolean }[];
    }>('contacts', {
      type: 'update',
      batch,
      batchPolicy: { allOrNone: true },
    });
    expect(answer).toMatchObject({
      status: 200,
      body: {
        successCount: 2,
        failureCount: 1,
        warnings: [{ message: expect.stringContaining('allOrNone') }],
      },
    });
    expect(answer.body.results.map(({ success }) => success)).toEqual([true, true, false]);
  });

  it('a record that stands twice in a batch is written in order, by calls after one another', async () => {
    const made = await hubspot.write('contacts', { type: 'create', batch: contacts('twice', 2) });
    const [first, second] = (made.body.results ?? []).map(({ recordId }) => recordId);
    const record = (id: string | undefined, firstname: string) => ({ record: { id, firstname } });
    const { result: answer, requests } = await during(platform.hubspot, () =>
      hubspot.write('contacts', {
        type: 'update',
        batch: [record(first, 'a'), record(second, 'b'), record(first, 'c')],
      }),
    );
    expect(answer).toMatchObject({ status: 200, body: { successCount: 3 } });
    expect(requests).toHaveLength(2);
    const kept = await simulator<{ properties: { firstname: string } }>(
      platform.hubspot,
      'GET',
      `/data/contacts/${first}`,
    );
    expect(kept.properties.firstname).toBe('c');
  });

  it('§4.2.2 a batch create makes each item’s associations', async () => {
    const company = await hubspot.write('companies', { type: 'create', record: { name: 'Acme' } });
    const to = { id: company.body.result!.recordId! };
    const associations = [
      { to, types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 279 }] },
    ];
    const batch = [
      { record: { email: 'b1@example.com' }, associations },
      { record: { email: 'b2@example.com' } },
    ];
    const answer = await hubspot.write('contacts', { type: 'create', batch });
    expect(answer).toMatchObject({ status: 200, body: { successCount: 2 } });
    const linked = (await effects(platform.hubspot, 'contacts')).filter(({ kind }) => kind === 'associate');
    expect(linked).toMatchObject([{ id: answer.body.results?.[0]?.recordId, fields: { toId: to.id } }]);
  });

  it('§4.2.2, §3 an asynchronous batch ends as success when at least one record did, and lists each record', async () => {
    const batch = [
      ...contacts('async', 2),
      { record: { email: 'async9@example.com', nope: 1 }, reference: 'bad' },
    ];
    const taken = await hubspot.write('contacts', { type: 'create', mode: 'asynchronous', batch });
    expect(taken.body).toEqual({ operationId: expect.any(String) });
    const done = await hubspot.settled(taken.body.operationId);
    expect(done).toMatchObject({
      status: 'success',
      counts: { total: 3, succeeded: 2, failed: 1, unknown: 0 },
    });
    expect(done.metadata?.successfulRecordIds).toHaveLength(2);
    const records = await platform.call<{ results: unknown[] }>(
      'GET',
      `/projects/default/operations/${taken.body.operationId}/records`,
    );
    expect(records.body.results).toMatchObject([
      { index: 0, reference: 'r0', success: true, resolution: 'applied' },
      { index: 1, reference: 'r1', success: true },
      {
        index: 2,
        reference: 'bad',
        success: false,
        resolution: 'notApplied',
        errors: [{ category: 'validation' }],
      },
    ]);
  });
});
