import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOrg, type Answer, type Json, type TestOrg } from './test-client.ts';

let org: TestOrg;

beforeAll(async () => {
  org = await startOrg({ records: 0 });
});
afterAll(() => org.close());

const found = async (condition: string): Promise<Json[]> => {
  const soql = `SELECT Id, SystemModstamp FROM Lead WHERE ${condition}`;
  return (await org.api('GET', `/query?q=${encodeURIComponent(soql)}`)).body.records;
};

describe('simulator/salesforce/knobs', () => {
  it('takes times of creation and change with the data', async () => {
    const records = [
      { LastName: 'Old', Company: 'X', CreatedDate: '2020-01-01T00:00:00Z' },
      {
        LastName: 'Newer',
        Company: 'X',
        CreatedDate: '2020-01-01T00:00:00Z',
        SystemModstamp: '2021-06-01T00:00:00Z',
      },
    ];
    await org.sim('data', { object: 'Lead', records });
    expect(await found('SystemModstamp < 2021-01-01T00:00:00Z')).toMatchObject([
      { SystemModstamp: '2020-01-01T00:00:00.000+0000' },
    ]);
    expect(await found('CreatedDate < 2021-01-01T00:00:00Z')).toHaveLength(2);
    const refused = await org.api('POST', '/sobjects/Lead', records[0]);
    expect(refused.body[0].errorCode).toBe('INVALID_FIELD_FOR_INSERT_UPDATE');
  });

  it('commits late what carries the stamps of its beginning, and locks it meanwhile', async () => {
    await org.sim('clock', { freezeAt: '2026-06-01T10:00:00Z' });
    const [id] = (await org.sim('data', { object: 'Lead', records: [{ LastName: 'Known', Company: 'X' }] }))
      .ids;
    const late = (action: string, records: Json[]): Promise<Json> =>
      org.sim('data', { object: 'Lead', action, records, commitAfterMs: 60_000 });
    const made = await late('create', [{ LastName: 'Late', Company: 'X' }]);
    await late('update', [{ Id: id, LastName: 'Changed' }]);
    await org.sim('clock', { advanceMs: 30_000 });
    expect(await found("LastName IN ('Late', 'Changed')")).toEqual([]);
    const locked = await org.api('PATCH', `/sobjects/Lead/${id}`, { Company: 'Y' });
    expect(locked.body[0].errorCode).toBe('UNABLE_TO_LOCK_ROW');
    await org.sim('clock', { advanceMs: 30_000 });
    const stamps = await found("LastName IN ('Late', 'Changed')");
    expect(stamps.map((one) => one.Id)).toEqual([id, made.ids[0]]);
    expect(new Set(stamps.map((one) => one.SystemModstamp))).toEqual(
      new Set(['2026-06-01T10:00:00.000+0000']),
    );
    expect((await org.api('PATCH', `/sobjects/Lead/${id}`, { Company: 'Y' })).status).toBe(204);
    await org.sim('clock', { shiftMs: 0 });
  });

  it('shows a private record to its owner alone, and holds its unique value against all', async () => {
    const User = { Username: 'o@x.example', LastName: 'O', Email: 'o@x.example', Alias: 'o' };
    const [OwnerId] = (await org.sim('data', { object: 'User', records: [User] })).ids;
    const records = [{ LastName: 'Private', Company: 'X', External_Id__c: 'private', OwnerId }];
    const [id] = (await org.sim('data', { object: 'Lead', records })).ids;
    expect(await found("LastName = 'Private'")).toHaveLength(1);
    await org.sim('settings', { privateObjects: ['Lead'] });
    expect(await found("LastName = 'Private'")).toEqual([]);
    expect((await org.api('GET', `/sobjects/Lead/${id}`)).status).toBe(404);
    const many = await org.api('POST', '/composite/sobjects/Lead', { ids: [id], fields: ['Id'] });
    expect(many.body).toEqual([null]);
    const twin = { LastName: 'Twin', Company: 'X', External_Id__c: 'private' };
    expect((await org.api('POST', '/sobjects/Lead', twin)).body[0].errorCode).toBe('DUPLICATE_VALUE');
    const own = { ...twin, External_Id__c: 'own' };
    expect((await org.api('POST', '/sobjects/Lead', own)).status).toBe(201);
    expect(await found("LastName = 'Twin'")).toHaveLength(1);
    await org.sim('settings', { privateObjects: [] });
  });

  it('changes the data between two pages of a query', async () => {
    const [object, action] = ['Lead', 'create'];
    const records = Array.from({ length: 450 }, (_, i) => ({ LastName: `P${i}`, Company: 'Paged' }));
    const { ids } = await org.sim('data', { object, action, records });
    const data = [{ object, action: 'update', records: [{ Id: ids[300], Company: 'Moved' }] }];
    await org.sim('hooks', { path: '/query', after: 1, data });
    const soql = encodeURIComponent("SELECT Id FROM Lead WHERE Company = 'Paged' ORDER BY Id");
    const first = await org.api('GET', `/query?q=${soql}`, undefined, {
      'sforce-query-options': 'batchSize=200',
    });
    expect(first.body.done).toBe(false);
    expect((await found("Company = 'Moved'")).map((one) => one.Id)).toEqual([ids[300]]);
  });

  it('lets bulk jobs fail, and forgets them after their life', async () => {
    const message = 'InvalidBatch : Query timed out';
    await org.sim('settings', {
      bulkPolls: 0,
      bulkFailures: [{ kind: 'query', object: 'Lead', times: 1, message }],
    });
    const job = (query: string): Promise<Answer> =>
      org.api('POST', '/jobs/query', { operation: 'query', query });
    const state = (id: string, more = ''): Promise<Answer> => org.api('GET', `/jobs/query/${id}${more}`);
    const failed = (await job('SELECT Id FROM Lead')).body.id;
    expect((await state(failed)).body).toMatchObject({
      state: 'Failed',
      errorMessage: message,
      numberRecordsProcessed: 0,
    });
    expect((await state(failed, '/results')).status).toBe(400);
    const good = (await job('SELECT Id FROM Lead')).body.id;
    expect((await state(good)).body.state).toBe('JobComplete');
    expect((await state(good, '/results')).status).toBe(200);
    await org.sim('settings', { bulkLifeMs: 1 });
    expect((await state(good, '/results')).status).toBe(404);
    expect((await state(good)).status).toBe(404);
    await org.sim('settings', { bulkLifeMs: 86_400_000, bulkFailures: [{ kind: 'ingest', times: 1 }] });
    const ingest = (await org.api('POST', '/jobs/ingest', { object: 'Lead', operation: 'insert' })).body.id;
    await org.api('PUT', `/jobs/ingest/${ingest}/batches`, 'LastName,Company\nA,B\n', {
      'content-type': 'text/csv',
    });
    await org.api('PATCH', `/jobs/ingest/${ingest}`, { state: 'UploadComplete' });
    expect((await org.api('GET', `/jobs/ingest/${ingest}`)).body.state).toBe('Failed');
    expect((await org.api('GET', `/jobs/ingest/${ingest}/unprocessedrecords`)).text).toContain('"A","B"');
  });

  it('counts records, requests and effects', async () => {
    const before = (await org.sim('counts')).records.Campaign;
    const { id } = (await org.api('POST', '/sobjects/Campaign', { Name: 'Counted' })).body;
    await org.api('DELETE', `/sobjects/Campaign/${id}`);
    const counts = await org.sim('counts');
    expect(counts.records.Campaign).toEqual({ live: before.live, deleted: before.deleted + 1 });
    expect(counts.effects).toMatchObject({ 'create Campaign': 1, 'delete Campaign': 1 });
    expect(counts.requests['201 POST /services/data/v60.0/sobjects/Campaign']).toBe(1);
  });
});
