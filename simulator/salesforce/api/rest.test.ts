import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOrg, type TestOrg, type Json } from '../test-client.ts';

let org: TestOrg;

beforeAll(async () => {
  org = await startOrg();
});
afterAll(() => org.close());

async function create(object: string, fields: Record<string, unknown>): Promise<string> {
  const { body } = await org.api('POST', `/sobjects/${object}`, fields);
  expect(body).toMatchObject({ success: true, errors: [] });
  return body.id as string;
}

const read = async (object: string, id: string): Promise<Json> =>
  (await org.api('GET', `/sobjects/${object}/${id}`)).body;

describe('simulator/salesforce/api/rest', () => {
  it('creates with 201, an id of 18 characters, Location and the usual headers', async () => {
    const { status, body, headers } = await org.api('POST', '/sobjects/account', { NAME: 'Acme', Phone: '' });
    expect(status).toBe(201);
    expect(body.id).toMatch(/^001\w{15}$/);
    expect(headers.get('location')).toBe(`/services/data/v60.0/sobjects/Account/${body.id}`);
    expect(headers.get('content-type')).toBe('application/json;charset=UTF-8');
    expect(headers.get('cache-control')).toBe('no-cache,must-revalidate,max-age=0,no-store,private');
    expect(headers.get('set-cookie')).toContain('BrowserId=');
    expect(headers.get('vary')).toBeTruthy();
    expect(headers.get('sforce-limit-info')).toMatch(/^api-usage=\d+\/100000$/);
    const row = await org.api('GET', `/sobjects/Account/${body.id.slice(0, 15)}`);
    expect(row.headers.get('last-modified')).toMatch(/GMT$/);
    expect(row.body).toMatchObject({ Id: body.id, Name: 'Acme', Phone: null, IsDeleted: false });
    expect(row.body.CreatedDate).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/);
  });

  it.each([
    ['Contact', {}, 'REQUIRED_FIELD_MISSING', 'Required fields are missing: [LastName]', ['LastName']],
    ['Lead', { LastName: ' ' }, 'REQUIRED_FIELD_MISSING', '[LastName, Company]', ['LastName', 'Company']],
    ['Contact', { LastName: 'x'.repeat(81) }, 'STRING_TOO_LONG', 'max length=80', ['LastName']],
    [
      'Contact',
      { LastName: 'x', Email: 'nope' },
      'INVALID_EMAIL_ADDRESS',
      'Email: invalid email address: nope',
      ['Email'],
    ],
    [
      'Contact',
      { LastName: 'x', Level__c: 'Top' },
      'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST',
      'bad value',
      ['Level__c'],
    ],
    [
      'Contact',
      { LastName: 'x', Interests__c: 'Data;Top' },
      'INVALID_OR_NULL_FOR_RESTRICTED_PICKLIST',
      'Top',
      ['Interests__c'],
    ],
    [
      'Contact',
      { LastName: 'x', Nope: 1 },
      'INVALID_FIELD',
      "No such column 'Nope' on sobject of type Contact",
      [],
    ],
    [
      'Contact',
      { LastName: 'x', Name: 'y' },
      'INVALID_FIELD_FOR_INSERT_UPDATE',
      'Unable to create/update fields: Name',
      ['Name'],
    ],
    [
      'Contact',
      { LastName: 'x', AccountId: 'bad' },
      'MALFORMED_ID',
      'id value of incorrect type: bad',
      ['AccountId'],
    ],
    [
      'Contact',
      { LastName: 'x', AccountId: '001Hs1000zzzzzz' },
      'INVALID_CROSS_REFERENCE_KEY',
      'invalid cross',
      [],
    ],
    [
      'Contact',
      { LastName: 'x', Score__c: 'many' },
      'JSON_PARSER_ERROR',
      'Cannot deserialize instance of double',
      [],
    ],
    ['Contact', { LastName: 'x', Birthdate: '2020-02-31' }, 'JSON_PARSER_ERROR', 'instance of date', []],
    [
      'Contact',
      { LastName: 'x', DoNotCall: null },
      'INVALID_TYPE_ON_FIELD_IN_RECORD',
      'required type',
      ['DoNotCall'],
    ],
    [
      'Contact',
      { LastName: 'x', Account: { External_Id__c: 'no' } },
      'INVALID_FIELD',
      'Foreign key external ID',
      [],
    ],
  ])('refuses a %s of %j with %s', async (object, fields, errorCode, message, names) => {
    const { status, body } = await org.api('POST', `/sobjects/${object}`, fields);
    expect(status).toBe(400);
    expect(body).toEqual([{ errorCode, message: expect.stringContaining(message), fields: names }]);
  });

  it('updates with 204, clears with null and "", and moves SystemModstamp', async () => {
    const id = await create('Contact', {
      LastName: 'Old',
      Title: 'a',
      Department: 'b',
      Birthdate: '2000-01-02T00:00:00Z',
    });
    await org.sim('clock', { advanceMs: 5000 });
    const before = await read('Contact', id);
    const { status, text } = await org.api('PATCH', `/sobjects/Contact/${id}`, {
      lastname: 'New',
      Title: null,
      Department: '',
    });
    expect([status, text]).toEqual([204, '']);
    const after = await read('Contact', id);
    expect(after).toMatchObject({
      LastName: 'New',
      Name: 'New',
      Title: null,
      Department: null,
      Birthdate: '2000-01-02',
    });
    expect(after.SystemModstamp > before.SystemModstamp).toBe(true);
    const posted = await org.api('POST', `/sobjects/Contact/${id}?_HttpMethod=PATCH`, { Title: 'again' });
    expect(posted.status).toBe(204);
    const narrow = await org.api('GET', `/sobjects/Contact/${id}?fields=title,LastName`);
    expect(narrow.body).toEqual({
      attributes: narrow.body.attributes,
      Title: 'again',
      LastName: 'New',
      Id: id,
    });
    const bad = await org.api('GET', `/sobjects/Contact/${id}?fields=Nope`);
    expect(bad.body).toMatchObject([{ errorCode: 'INVALID_FIELD' }]);
  });

  it('deletes once; then the record is gone from GET, PATCH, DELETE and unknown ids are NOT_FOUND', async () => {
    const id = await create('Lead', { LastName: 'L', Company: 'C' });
    expect((await org.api('DELETE', `/sobjects/Lead/${id}`)).status).toBe(204);
    for (const method of ['DELETE', 'PATCH']) {
      const again = await org.api(
        method,
        `/sobjects/Lead/${id}`,
        method === 'PATCH' ? { Title: 'x' } : undefined,
      );
      expect([again.status, again.body]).toEqual([
        404,
        [{ errorCode: 'ENTITY_IS_DELETED', message: 'entity is deleted' }],
      ]);
    }
    expect((await org.api('GET', `/sobjects/Lead/${id}`)).body).toMatchObject([{ errorCode: 'NOT_FOUND' }]);
    const unknown = await org.api('PATCH', '/sobjects/Lead/00QHs1000zzzzzz', { Title: 'x' });
    expect([unknown.status, unknown.body[0].errorCode]).toEqual([404, 'NOT_FOUND']);
  });

  it('lists deletions and updates of a period', async () => {
    const id = await create('Case', { Subject: 'log' });
    await org.api('DELETE', `/sobjects/Case/${id}`);
    const now = Date.parse((await org.sim('health')).now);
    const iso = (ms: number): string => encodeURIComponent(new Date(ms).toISOString().replace('Z', '+00:00'));
    const period = `start=${iso(now - 120_000)}&end=${iso(now + 120_000)}`;
    const gone = await org.api('GET', `/sobjects/Case/deleted?${period}`);
    expect(gone.body.deletedRecords).toContainEqual({ id, deletedDate: expect.stringMatching(/\+0000$/) });
    expect(gone.body).toHaveProperty('latestDateCovered');
    const kept = await create('Case', { Subject: 'kept' });
    expect((await org.api('GET', `/sobjects/Case/updated?${period}`)).body.ids).toContain(kept);
    const old = await org.api(
      'GET',
      `/sobjects/Case/deleted?start=${iso(now - 20 * 86_400_000)}&end=${iso(now)}`,
    );
    expect([old.status, old.body[0].errorCode]).toEqual([400, 'INVALID_REPLICATION_DATE']);
  });

  it('upserts by external id: 201, 200, 204 before v46, 300 when ambiguous, 404 without such a key', async () => {
    const path = '/sobjects/UpsertTable__c/ExtId__c/K%2F1';
    const made = await org.api('PATCH', path, { Name: 'one' });
    expect([made.status, made.body.created]).toEqual([201, true]);
    const changed = await org.api('PATCH', path, { Name: 'two' });
    expect([changed.status, changed.body]).toEqual([
      200,
      { id: made.body.id, success: true, errors: [], created: false },
    ]);
    const older = await org.call(
      'PATCH',
      `/services/data/v45.0${path}`,
      { Name: 'three' },
      { authorization: `Bearer ${org.token}` },
    );
    expect(older.status).toBe(204);
    const twin = await create('UpsertTable__c', { Name: 'twin', ExtId__c: 'k/1' });
    const several = await org.api('PATCH', path, { Name: 'four' });
    expect(several.status).toBe(300);
    expect(several.body).toEqual(
      [made.body.id, twin].map((id) => `/services/data/v60.0/sobjects/UpsertTable__c/${id}`),
    );
    expect((await org.api('PATCH', '/sobjects/UpsertTable__c/Name/x', {})).body[0].errorCode).toBe(
      'NOT_FOUND',
    );
    const inBody = await org.api('PATCH', path, { ExtId__c: 'x' });
    expect(inBody.body[0].errorCode).toBe('INVALID_FIELD');
    const unique = await org.api('PATCH', '/sobjects/Account/External_Id__c/A1', { Name: 'A' });
    expect((await org.api('GET', '/sobjects/Account/External_Id__c/a1')).body.Id).toBe(unique.body.id);
    const linked = await create('Contact', { LastName: 'x', Account: { External_Id__c: 'A1' } });
    expect((await read('Contact', linked)).AccountId).toBe(unique.body.id);
    const clash = await org.api('POST', '/sobjects/Account', { Name: 'B', External_Id__c: 'A1' });
    expect(clash.body[0]).toMatchObject({
      errorCode: 'DUPLICATE_VALUE',
      message: expect.stringContaining(unique.body.id),
    });
  });

  it('takes the end of a path for the format of the answer, and does not serve .inc', async () => {
    const path = '/sobjects/UpsertTable__c/ExtId__c/format';
    const { body } = await org.api('PATCH', path, { Name: 'one' });
    for (const ending of ['.json', '.xml'])
      expect((await org.api('PATCH', path + ending, { Name: 'two' })).body.id).toBe(body.id);
    expect((await org.api('PATCH', `${path}.inc`, { Name: 'three' })).status).toBe(404);
  });

  it('answers a duplicate rule in its own words, and allowSave passes an alert but not a block', async () => {
    const rule = {
      name: 'Standard_Contact_Duplicate_Rule',
      object: 'Contact',
      fields: ['Email'],
      mode: 'alert',
    };
    await org.sim('settings', { duplicateRules: [rule] });
    const fields = { LastName: 'Dup', Email: 'dup@example.com' };
    const id = await create('Contact', fields);
    const refused = await org.api('POST', '/sobjects/Contact', fields);
    expect(refused.status).toBe(400);
    expect(refused.body[0]).toMatchObject({
      errorCode: 'DUPLICATES_DETECTED',
      duplicateResut: {
        allowSave: true,
        duplicateRule: 'Standard_Contact_Duplicate_Rule',
        matchResults: [{ size: 1, matchRecords: [{ record: { Id: id } }] }],
      },
    });
    const many = await org.api('POST', '/composite/sobjects', {
      records: [{ attributes: { type: 'Contact' }, ...fields }],
    });
    expect(many.body[0].errors).toEqual([
      { statusCode: 'DUPLICATES_DETECTED', message: expect.any(String), fields: [] },
    ]);
    const allow = { 'Sforce-Duplicate-Rule-Header': 'allowSave=true; runAsCurrentUser=true' };
    expect((await org.api('POST', '/sobjects/Contact', fields, allow)).status).toBe(201);
    await org.sim('settings', { duplicateRules: [{ ...rule, mode: 'block' }] });
    expect((await org.api('POST', '/sobjects/Contact', fields, allow)).status).toBe(400);
    await org.sim('settings', { duplicateRules: [] });
  });

  it('meets row locks as often as the settings say', async () => {
    const id = await create('Account', { Name: 'Locked' });
    await org.sim('settings', { locks: [{ id, times: 1 }] });
    const first = await org.api('PATCH', '/composite/sobjects', {
      records: [{ attributes: { type: 'Account' }, id, Name: 'x' }],
    });
    expect(first.body[0].errors[0].statusCode).toBe('UNABLE_TO_LOCK_ROW');
    expect((await org.api('PATCH', `/sobjects/Account/${id}`, { Name: 'x' })).status).toBe(204);
  });

  it('refuses wrong content types, broken JSON, unknown paths and methods in Salesforce form', async () => {
    const plain = await org.api('POST', '/sobjects/Account', 'Name=x', { 'content-type': 'text/plain' });
    expect([plain.status, plain.body[0].errorCode]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    const broken = await org.api('POST', '/sobjects/Account', '{"Name":', {
      'content-type': 'application/json',
    });
    expect([broken.status, broken.body[0].errorCode]).toEqual([400, 'JSON_PARSER_ERROR']);
    const nowhere = await org.api('GET', '/nowhere');
    expect([nowhere.status, nowhere.body]).toEqual([
      404,
      [{ errorCode: 'NOT_FOUND', message: 'The requested resource does not exist' }],
    ]);
    expect((await org.api('GET', '/sobjects/Nope/describe')).status).toBe(404);
    const method = await org.api('DELETE', '/sobjects/Account');
    expect([method.status, method.body[0].errorCode]).toEqual([405, 'METHOD_NOT_ALLOWED']);
  });

  it('describes every stored column and answers 304 to a fresh copy, 200 after a schema change', async () => {
    const full = await org.api('GET', '/sobjects/contact/describe');
    expect(full.body).toMatchObject({ name: 'Contact', keyPrefix: '003', custom: false });
    const fields = full.body.fields as Record<string, unknown>[];
    expect(fields.find((f) => f['name'] === 'LastName')).toMatchObject({
      nillable: false,
      createable: true,
      length: 80,
    });
    expect(fields.find((f) => f['name'] === 'AccountId')).toMatchObject({
      referenceTo: ['Account'],
      relationshipName: 'Account',
    });
    expect(full.body.childRelationships).toContainEqual(
      expect.objectContaining({ childSObject: 'Task', field: 'WhoId', relationshipName: 'Tasks' }),
    );
    const row = (await org.api('GET', '/query?q=SELECT+Id+FROM+Contact+LIMIT+1')).body.records[0];
    const stored = Object.keys(await read('Contact', row.Id)).filter((name) => name !== 'attributes');
    expect(fields.map((f) => f['name'])).toEqual(stored);
    const since = { 'If-Modified-Since': new Date(Date.now() + 60_000).toUTCString() };
    const fresh = await org.api('GET', '/sobjects/Contact/describe', undefined, since);
    expect([fresh.status, fresh.text]).toEqual([304, '']);
    await org.sim('clock', { advanceMs: 3_600_000 });
    await org.sim('schema', {
      fields: { Contact: [{ name: 'Extra__c', type: 'boolean' }] },
      remove: { Contact: ['Title'] },
    });
    const changed = await org.api('GET', '/sobjects/Contact/describe', undefined, since);
    const names = (changed.body.fields as { name: string }[]).map((f) => f.name);
    expect(names).toContain('Extra__c');
    expect(names).not.toContain('Title');
    const hidden = await org.api('GET', '/query?q=SELECT+Title+FROM+Contact');
    expect(hidden.body[0].errorCode).toBe('INVALID_FIELD');
  });
});
