import { Connection, OAuth2 } from 'jsforce';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOrg, type TestOrg, type Json } from './test-client.ts';

let org: TestOrg;
let conn: Connection;

beforeAll(async () => {
  org = await startOrg();
  conn = connect();
});
afterAll(() => org.close());

function connect(more: Record<string, unknown> = {}): Connection {
  return new Connection({ instanceUrl: org.url, accessToken: org.token, version: '60.0', ...more });
}

const nameOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error: Error) => error.name,
  );

const saved = (results: unknown): Json[] => results as Json[];

describe('simulator/salesforce/jsforce', () => {
  it('creates, retrieves, updates and deletes one record', async () => {
    const account = conn.sobject('Account');
    const made: Json = await account.create({ Name: 'One', Phone: '' });
    expect(made).toEqual({ id: expect.stringMatching(/^001/), success: true, errors: [] });
    expect(await account.retrieve(made.id)).toMatchObject({ Id: made.id, Name: 'One', Phone: null });
    expect(await account.update({ Id: made.id, Name: 'Two' })).toEqual({
      id: made.id,
      success: true,
      errors: [],
    });
    expect(await account.record(made.id).retrieve()).toMatchObject({ Name: 'Two' });
    expect(await account.destroy(made.id)).toMatchObject({ success: true });
    expect(await nameOf(account.retrieve(made.id))).toBe('NOT_FOUND');
    expect(await nameOf(account.destroy(made.id) as Promise<unknown>)).toBe('ENTITY_IS_DELETED');
    expect(await nameOf(account.create({ Phone: '1' }) as Promise<unknown>)).toBe('REQUIRED_FIELD_MISSING');
  });

  it('creates, retrieves, updates and deletes many, describing before it retrieves', async () => {
    const contact = conn.sobject('Contact');
    const made = saved(await contact.create([{ LastName: 'A' }, { LastName: 'B' }]));
    const ids = made.map((r) => r.id as string);
    const rows = await contact.retrieve(ids);
    expect(rows.map((r) => r['LastName'])).toEqual(['A', 'B']);
    expect(rows[0]).toHaveProperty('MailingAddress', null);
    const updated = saved(await contact.update(ids.map((Id) => ({ Id, Title: 'x' }))));
    expect(updated.every((r) => r.success)).toBe(true);
    const gone = saved(await contact.destroy(ids));
    expect(gone.map((r) => r.id)).toEqual(ids);
    expect(await contact.retrieve(ids)).toEqual([null, null]);
  });

  it('reports single failures of a collection and rolls all back with allOrNone', async () => {
    const partly = saved(await conn.create('Contact', [{ LastName: 'A' }, { FirstName: 'B' }]));
    expect(partly.map((r) => r.success)).toEqual([true, false]);
    expect(partly[1].errors[0]).toMatchObject({ statusCode: 'REQUIRED_FIELD_MISSING', fields: ['LastName'] });
    const none = saved(
      await conn.create('Contact', [{ LastName: 'A' }, { FirstName: 'B' }], { allOrNone: true }),
    );
    expect(none.map((r) => r.errors[0].statusCode)).toEqual([
      'ALL_OR_NONE_OPERATION_ROLLED_BACK',
      'REQUIRED_FIELD_MISSING',
    ]);
  });

  it('splits more than 200 records when allowed to', async () => {
    const records = Array.from({ length: 401 }, (_, i) => ({ Name: `Many ${i}` }));
    const made = saved(await conn.create('Account', records, { allowRecursive: true }));
    expect(made.filter((r) => r.success)).toHaveLength(401);
    const ids = made.map((r) => r.id as string);
    expect(saved(await conn.destroy('Account', ids, { allowRecursive: true })).every((r) => r.success)).toBe(
      true,
    );
  });

  it('upserts one and many and meets MULTIPLE_CHOICES', async () => {
    const table = conn.sobject('UpsertTable__c');
    const first: Json = await table.upsert({ Name: 'a', ExtId__c: 'js-1' }, 'ExtId__c');
    expect(first).toMatchObject({ success: true, created: true });
    const second: Json = await table.upsert({ Name: 'b', ExtId__c: 'js-1' }, 'ExtId__c');
    expect(second).toMatchObject({ id: first.id, success: true });
    const many = saved(
      await table.upsert(
        [
          { ExtId__c: 'js-1', Name: 'c' },
          { ExtId__c: 'js-2', Name: 'd' },
        ],
        'ExtId__c',
      ),
    );
    expect(many.map((r) => r.created)).toEqual([false, true]);
    const rolled = saved(
      await table.upsert(
        [
          { ExtId__c: 'js-3', Name: 'x' },
          { ExtId__c: 'js-4', Name: 'x'.repeat(81) },
        ],
        'ExtId__c',
        { allOrNone: true },
      ),
    );
    expect(rolled.map((r) => [r.success, r.created])).toEqual([
      [false, true],
      [false, false],
    ]);
    await table.create({ Name: 'twin', ExtId__c: 'js-1' });
    const error: Json = await Promise.resolve(
      table.upsert({ Name: 'e', ExtId__c: 'js-1' }, 'ExtId__c'),
    ).catch((e: unknown) => e);
    expect(error.name).toBe('MULTIPLE_CHOICES');
    expect(error.data).toHaveLength(2);
  });

  it('queries with conditions, parents, children and all pages', async () => {
    const made: Json = await conn.sobject('Account').create({ Name: 'Q' });
    await conn.create('Contact', [
      { LastName: 'K1', AccountId: made.id },
      { LastName: 'K2', AccountId: made.id },
    ]);
    const found = await conn
      .sobject('Contact')
      .find({ AccountId: made.id, LastName: { $like: 'k%' } }, ['Id', 'LastName', 'Account.Name'])
      .sort({ LastName: -1 })
      .limit(5);
    expect(found.map((r: Json) => [r.LastName, r.Account.Name])).toEqual([
      ['K2', 'Q'],
      ['K1', 'Q'],
    ]);
    const nested: Json = await conn.query(
      `SELECT Id, (SELECT LastName FROM Contacts) FROM Account WHERE Id = '${made.id}'`,
    );
    expect(nested.records[0].Contacts).toMatchObject({ totalSize: 2, done: true });
    const page = await conn.query('SELECT Id FROM BigTable__c');
    expect([page.totalSize, page.done, page.records.length]).toEqual([6001, false, 2000]);
    const more = await conn.queryMore(page.nextRecordsUrl!.split('/').pop()!);
    expect(more.records).toHaveLength(2000);
    const all = await conn.query('SELECT Id, Number__c FROM BigTable__c', {
      autoFetch: true,
      maxFetch: 10_000,
    });
    expect(new Set(all.records.map((r) => r['Id'])).size).toBe(6001);
    const small = await conn.query('SELECT Id FROM BigTable__c', {
      headers: { 'Sforce-Query-Options': 'batchSize=500' },
    });
    expect(small.records).toHaveLength(500);
    expect((await conn.query('SELECT COUNT() FROM BigTable__c')).totalSize).toBe(6001);
    expect(await nameOf(conn.query('SELECT Nope FROM Account') as unknown as Promise<unknown>)).toBe(
      'INVALID_FIELD',
    );
    expect((await conn.query('SELECT Id FROM Account').explain()).plans).toHaveLength(1);
  });

  it('loses a query locator after two days', async () => {
    const page = await conn.query('SELECT Id FROM BigTable__c');
    await org.sim('clock', { advanceMs: 2 * 86_400_000 });
    const fresh = connect({ accessToken: (await org.issue()).accessToken });
    const more = fresh.queryMore(page.nextRecordsUrl!.split('/').pop()!) as unknown as Promise<unknown>;
    expect(await nameOf(more)).toBe('INVALID_QUERY_LOCATOR');
    await org.sim('clock', { shiftMs: 0 });
  });

  it('describes objects, lists deletions and recent records, reads identity, limits, tabs and theme', async () => {
    const global = await conn.describeGlobal();
    expect(global.sobjects.map((o) => o.name)).toEqual(
      expect.arrayContaining(['Account', 'Contact', 'Lead', 'BigTable__c']),
    );
    const described = await conn.describe('Opportunity');
    expect(
      described.fields.find((f) => f.name === 'StageName')?.picklistValues?.map((p) => p.value),
    ).toContain('Closed Won');
    const made: Json = await conn.sobject('Lead').create({ LastName: 'L', Company: 'C' });
    expect((await conn.recent('Lead')).map((r) => r['Id'])).toContain(made.id);
    const from = new Date(Date.now() - 300_000);
    const to = new Date(Date.now() + 300_000);
    expect((await conn.sobject('Lead').updated(from, to)).ids).toContain(made.id);
    await conn.sobject('Lead').destroy(made.id);
    expect((await conn.sobject('Lead').deleted(from, to)).deletedRecords.map((r) => r.id)).toContain(made.id);
    expect(await conn.identity()).toMatchObject({
      organization_id: org.orgId,
      username: 'admin@salesforce.example',
    });
    expect((await conn.limits())['DailyApiRequests']).toMatchObject({ Max: 100_000 });
    expect(conn.limitInfo.apiUsage).toMatchObject({ limit: 100_000 });
    expect((await conn.tabs()).length).toBeGreaterThan(0);
    expect(await conn.theme()).toHaveProperty('themeItems');
  });

  it('runs Bulk 2.0 query and ingest', async () => {
    conn.bulk2.pollInterval = 5;
    const stream = await conn.bulk2.query('SELECT Id, Name FROM BigTable__c');
    const rows: Json[] = await stream.toArray();
    expect(rows).toHaveLength(6001);
    expect(rows[0]).toMatchObject({ Name: 'Row 1' });
    const input = [
      { Name: 'bulk 1', Phone: '1' },
      { Name: 'bulk 2', Phone: null },
      { Name: null, Phone: '1' },
    ];
    const loaded: Json = await conn.bulk2.loadAndWaitForResults({
      object: 'Account',
      operation: 'insert',
      input,
      pollInterval: 5,
    });
    expect(loaded.successfulResults.map((r: Json) => [r.Name, r.sf__Created])).toEqual([
      ['bulk 1', 'true'],
      ['bulk 2', 'true'],
    ]);
    expect(loaded.failedResults[0].sf__Error).toBe(
      'REQUIRED_FIELD_MISSING:Required fields are missing: [Name]:Name --',
    );
    const ids = loaded.successfulResults.map((r: Json) => ({ Id: r.sf__Id as string }));
    const gone: Json = await conn.bulk2.loadAndWaitForResults({
      object: 'Account',
      operation: 'delete',
      input: ids,
      pollInterval: 5,
    });
    expect(gone.successfulResults).toHaveLength(2);
    const failing = connect({ accessToken: 'bad' }).bulk2.query('SELECT Id FROM Account');
    expect(await nameOf(failing)).toBe('INVALID_SESSION_ID');
  });

  it('authorizes with PKCE, refreshes an expired session by itself and revokes', async () => {
    const oauth2 = new OAuth2({
      loginUrl: org.url,
      clientId: 'js',
      clientSecret: 'secret',
      redirectUri: 'https://app.example/cb',
      useVerifier: true,
    });
    const location = (
      await fetch(oauth2.getAuthorizationUrl({ scope: 'api refresh_token' }), { redirect: 'manual' })
    ).headers.get('location')!;
    const logged = new Connection({ oauth2, version: '60.0' });
    const user = await logged.authorize(new URL(location).searchParams.get('code')!);
    expect(user.organizationId).toBe(org.orgId);
    expect(logged.instanceUrl).toBe(org.url);
    expect(await logged.identity()).toMatchObject({ user_id: user.id });
    const first = logged.accessToken;
    await org.sim('tokens', { action: 'expire', token: first });
    expect((await logged.query('SELECT Id FROM Account LIMIT 1')).records).toHaveLength(1);
    expect(logged.accessToken).not.toBe(first);
    const { refreshToken } = logged;
    await logged.oauth2.revokeToken(refreshToken!);
    expect(await nameOf(oauth2.refreshToken(refreshToken!))).toBe('invalid_grant');
  });

  it('retries reads on 503 by itself', async () => {
    await org.sim('faults', {
      path: '/limits',
      fault: { kind: 'status', status: 503, body: [{ errorCode: 'SERVER_UNAVAILABLE', message: 'busy' }] },
    });
    expect(await conn.limits()).toHaveProperty('DailyApiRequests');
  });
});
