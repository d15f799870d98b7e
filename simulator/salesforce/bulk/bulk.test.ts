import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOrg, type Answer, type TestOrg, type Json } from '../test-client.ts';
import { formatCsv, parseCsv } from './csv.ts';

let org: TestOrg;

beforeAll(async () => {
  org = await startOrg();
});
afterAll(() => org.close());

async function queryJob(input: Record<string, unknown>): Promise<string> {
  const { status, body } = await org.api('POST', '/jobs/query', { operation: 'query', ...input });
  expect([status, body.state]).toEqual([200, 'UploadComplete']);
  return `/jobs/query/${body.id}`;
}

async function settle(path: string): Promise<Json> {
  const states = [(await org.api('GET', path)).body.state];
  const { body } = await org.api('GET', path);
  expect(states).toEqual(['InProgress']);
  return body;
}

async function ingest(input: Record<string, unknown>, csv: string): Promise<{ job: Json; path: string }> {
  const { body } = await org.api('POST', '/jobs/ingest', { contentType: 'CSV', lineEnding: 'LF', ...input });
  expect(body).toMatchObject({
    state: 'Open',
    contentUrl: `services/data/v60.0/jobs/ingest/${body.id}/batches`,
  });
  const path = `/jobs/ingest/${body.id}`;
  const put = await org.api('PUT', `${path}/batches`, csv, { 'content-type': 'text/csv' });
  expect([put.status, put.text]).toEqual([201, '']);
  const closed = await org.api('PATCH', path, { state: 'UploadComplete' });
  expect(closed.body.state).toBe('UploadComplete');
  return { job: await settle(path), path };
}

const results = async (path: string, which: string): Promise<string[][]> =>
  parseCsv((await org.api('GET', `${path}/${which}`)).text, ',');

describe('simulator/salesforce/bulk/bulk', () => {
  it('reads and writes CSV with quotes, delimiters and line breaks inside cells', () => {
    const rows = [
      ['a', 'b;c'],
      ['say "hi"', 'two\nlines'],
      ['', ' x '],
    ];
    for (const end of ['\n', '\r\n']) expect(parseCsv(formatCsv(rows, ';', end), ';')).toEqual(rows);
    expect(parseCsv('a,b\r\n1,\n\n2,"x,y"', ',')).toEqual([
      ['a', 'b'],
      ['1', ''],
      ['2', 'x,y'],
    ]);
  });

  it('runs a query job and pages its results by Sforce-Locator', async () => {
    const path = await queryJob({ query: 'SELECT Id, Name, Number__c, Owner.Name FROM BigTable__c' });
    const early = await org.api('GET', `${path}/results`);
    expect([early.status, early.body[0].errorCode]).toEqual([400, 'INVALIDJOBSTATE']);
    expect(await settle(path)).toMatchObject({ state: 'JobComplete', numberRecordsProcessed: 6001 });
    const sizes: string[] = [];
    const seen = new Set<string>();
    let locator = '';
    while (locator !== 'null') {
      const page: Answer = await org.api(
        'GET',
        `${path}/results?maxRecords=2500${locator && `&locator=${locator}`}`,
      );
      expect(page.headers.get('content-type')).toBe('text/csv');
      const [header, ...rows] = parseCsv(page.text, ',');
      expect(header).toEqual(['Id', 'Name', 'Number__c', 'Owner.Name']);
      for (const row of rows) seen.add(row[0]!);
      sizes.push(page.headers.get('sforce-numberofrecords')!);
      locator = page.headers.get('sforce-locator')!;
    }
    expect([sizes, seen.size]).toEqual([['2500', '2500', '1001'], 6001]);
    expect((await org.api('DELETE', path)).status).toBe(204);
    expect((await org.api('GET', path)).status).toBe(404);
  });

  it('writes nulls as empty cells and datetimes with Z, in the delimiter asked for', async () => {
    const query = "SELECT Username, Title, CreatedDate FROM User WHERE Username = 'admin@salesforce.example'";
    const path = await queryJob({ query, columnDelimiter: 'PIPE', lineEnding: 'CRLF' });
    await settle(path);
    const { text } = await org.api('GET', `${path}/results`);
    expect(text).toMatch(
      /^"Username"\|"Title"\|"CreatedDate"\r\n"admin@salesforce\.example"\|""\|"[\d-]+T[\d:.]+Z"\r\n$/,
    );
  });

  it.each([
    ['SELECT Id, (SELECT Id FROM Contacts) FROM Account', 'API_ERROR'],
    ['SELECT Id, BillingAddress FROM Account', 'FUNCTIONALITY_NOT_ENABLED'],
    ['SELECT COUNT() FROM Account', 'API_ERROR'],
    ['SELECT Id FROM Account OFFSET 5', 'API_ERROR'],
    ['SELECT Nope FROM Account', 'INVALID_FIELD'],
  ])('refuses the bulk query %s', async (query, errorCode) => {
    const { status, body } = await org.api('POST', '/jobs/query', { operation: 'query', query });
    expect([status, body[0].errorCode]).toEqual([400, errorCode]);
  });

  it('finds deleted rows with queryAll and can be aborted', async () => {
    const { body } = await org.api('POST', '/sobjects/Campaign', { Name: 'gone' });
    await org.api('DELETE', `/sobjects/Campaign/${body.id}`);
    const path = await queryJob({
      operation: 'queryAll',
      query: 'SELECT Id FROM Campaign WHERE IsDeleted = true',
    });
    expect((await settle(path)).numberRecordsProcessed).toBe(1);
    const other = await queryJob({ query: 'SELECT Id FROM Campaign' });
    expect((await org.api('PATCH', other, { state: 'Aborted' })).body.state).toBe('Aborted');
  });

  it('inserts rows one by one, the failed with their reason', async () => {
    const { job, path } = await ingest(
      { object: 'contact', operation: 'insert' },
      'LASTNAME,email,DoNotCall\nA,a@b.com,true\n,x@y.com,\nB,nope,\n',
    );
    expect(job).toMatchObject({
      state: 'JobComplete',
      numberRecordsProcessed: 3,
      numberRecordsFailed: 2,
      object: 'Contact',
    });
    expect(await results(path, 'successfulResults')).toEqual([
      ['sf__Id', 'sf__Created', 'LASTNAME', 'email', 'DoNotCall'],
      [expect.stringMatching(/^003/), 'true', 'A', 'a@b.com', 'true'],
    ]);
    expect(await results(path, 'failedResults')).toEqual([
      ['sf__Id', 'sf__Error', 'LASTNAME', 'email', 'DoNotCall'],
      ['', 'REQUIRED_FIELD_MISSING:Required fields are missing: [LastName]:LastName --', '', 'x@y.com', ''],
      ['', 'INVALID_EMAIL_ADDRESS:Email: invalid email address: nope:Email --', 'B', 'nope', ''],
    ]);
    expect(await results(path, 'unprocessedrecords')).toEqual([['LASTNAME', 'email', 'DoNotCall']]);
  });

  it('leaves a field alone on an empty cell and clears it on #N/A', async () => {
    const { body } = await org.api('POST', '/sobjects/Contact', {
      LastName: 'U',
      Title: 't',
      Department: 'd',
    });
    await ingest(
      { object: 'Contact', operation: 'update', columnDelimiter: 'CARET' },
      `Id^Title^Department\n${body.id}^^#N/A\n`,
    );
    const row = (await org.api('GET', `/sobjects/Contact/${body.id}`)).body;
    expect(row).toMatchObject({ Title: 't', Department: null });
  });

  it('upserts by external id, links parents by theirs, and deletes for good with hardDelete', async () => {
    await org.api('POST', '/sobjects/Account', { Name: 'P', External_Id__c: 'p1' });
    const input = { object: 'Contact', operation: 'upsert', externalIdFieldName: 'external_id__c' };
    const csv = 'External_Id__c,LastName,Account.External_Id__c\nc1,One,p1\nc1,Two,\n';
    const { job, path } = await ingest(input, csv);
    expect(job.externalIdFieldName).toBe('External_Id__c');
    const done = await results(path, 'successfulResults');
    expect(done.slice(1).map((row) => row[1])).toEqual(['true', 'false']);
    const id = done[1]![0]!;
    expect(
      (await org.api('GET', `/query?q=SELECT+LastName,Account.Name+FROM+Contact+WHERE+Id='${id}'`)).body
        .records[0],
    ).toMatchObject({ LastName: 'Two', Account: { Name: 'P' } });
    await ingest({ object: 'Contact', operation: 'hardDelete' }, `Id\n${id}\n`);
    expect((await org.api('GET', `/queryAll?q=SELECT+Id+FROM+Contact+WHERE+Id='${id}'`)).body.totalSize).toBe(
      0,
    );
  });

  it('fails a job whose header names no field and keeps its rows unprocessed', async () => {
    const { job, path } = await ingest({ object: 'Contact', operation: 'insert' }, 'LastName,Nope\nA,1\n');
    expect(job).toMatchObject({
      state: 'Failed',
      errorMessage: 'InvalidBatch : Field name not found : Nope',
    });
    expect(await results(path, 'unprocessedrecords')).toEqual([
      ['LastName', 'Nope'],
      ['A', '1'],
    ]);
  });

  it('refuses jobs for unknown objects, operations and keys', async () => {
    const bad = [
      { object: 'Nope', operation: 'insert' },
      { object: 'Contact', operation: 'merge' },
      { object: 'Contact', operation: 'upsert', externalIdFieldName: 'LastName' },
      { object: 'Contact', operation: 'insert', columnDelimiter: 'DASH' },
    ];
    for (const input of bad) {
      expect((await org.api('POST', '/jobs/ingest', input)).body[0].errorCode).toBe('INVALIDJOB');
    }
  });
});
