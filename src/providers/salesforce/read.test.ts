import { describe, expect, it } from 'vitest';
import { startSalesforce } from '../../../simulator/salesforce/index.ts';
import type { HttpAnswer } from '../../kit/http/client.ts';
import type { ReadQuery } from '../connector.ts';
import { testReads } from '../read.testsuite.ts';
import type { FieldMetadata } from '../schema.ts';
import { salesforce } from './index.ts';

testReads('salesforce/read', async () => {
  const simulator = await startSalesforce({ records: 0 });
  const object = 'Contact';
  return {
    connector: salesforce,
    url: simulator.url,
    close: simulator.close,
    objectName: object,
    label: 'LastName',
    quotas: { dailyApiRequests: 1_000_000 },
    creates: (texts, SystemModstamp) => ({
      object,
      records: texts.map((LastName) => ({ LastName, SystemModstamp })),
    }),
    edits: (ids, LastName) => ({ object, action: 'update', records: ids.map((Id) => ({ Id, LastName })) }),
    deletes: (ids) => ({ object, action: 'delete', records: ids.map((Id) => ({ Id })) }),
    late: (change, commitAfterMs) => [['data', { ...change, commitAfterMs }]],
    addFields: (names) => ({
      fields: { [object]: names.map((name) => ({ name, label: name, type: 'string', length: 255 })) },
    }),
    withValues: (Id, values) => ({ object, action: 'update', records: [{ Id, ...values }] }),
    nameOf: (index) => `A_field_with_a_name_of_some_length_${index}__c`,
    page: { path: '/query(?:All)?\\?q=SELECT|/jobs/query/\\w+/results' },
    stored: (row) => ({ id: String(row['Id']), text: row['LastName'], deleted: row['IsDeleted'] === true }),
  };
});

const field = (fieldName: string, valueType: FieldMetadata['valueType'] = 'string'): FieldMetadata => ({
  fieldName,
  displayName: fieldName,
  valueType,
});
const fieldsOf = (...fields: FieldMetadata[]): Record<string, FieldMetadata> =>
  Object.fromEntries(fields.map((one) => [one.fieldName, one]));
const from = Date.parse('2026-01-01T00:00:00Z');
const query: ReadQuery = {
  object: {
    name: 'Deal__c',
    displayName: 'Deal',
    fields: fieldsOf(
      field('Id'),
      field('SystemModstamp', 'datetime'),
      field('Name'),
      field('Amount__c', 'float'),
      field('Open__c', 'boolean'),
      field('Day__c', 'date'),
      { ...field('Place__c', 'other'), providerType: 'address' },
    ),
  },
  fields: ['name', 'AMOUNT__C', 'gone'],
  since: from,
  until: from + 10_000,
  filters: [],
  deleted: false,
};
const first = 'a00000000000001AAA';
const answerOf = (body: unknown, status = 200, headers: HttpAnswer['headers'] = {}): HttpAnswer => ({
  status,
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const soqlOf = (asked: ReadQuery, cursor = ''): string =>
  new URLSearchParams(salesforce.read!.build(asked, cursor).path.split('?')[1]).get('q') ?? '';

describe('src/providers/salesforce/read, its quirks', () => {
  const read = salesforce.read!;

  it('queries behind the last id, in the names that the object has', () => {
    expect(soqlOf(query, first)).toBe(
      'SELECT Id, SystemModstamp, Name, Amount__c FROM Deal__c' +
        ' WHERE SystemModstamp > 2026-01-01T00:00:00.000Z AND SystemModstamp <= 2026-01-01T00:00:10.000Z' +
        ` AND Id > '${first}' ORDER BY Id LIMIT 2000`,
    );
    const { since: _since, ...all } = query;
    expect(soqlOf({ ...all, limit: 50 })).toMatch(/ WHERE SystemModstamp <= \S+ ORDER BY Id LIMIT 50$/);
    expect(read.build({ ...query, deleted: true }, '').path).toMatch(
      /\/queryAll\?q=.*IsDeleted%20%3D%20true/,
    );
  });

  it('reads the whole second in which the time before lies, for the times of changes are rounded down to it', () => {
    expect(soqlOf({ ...query, since: from + 500 })).toContain('SystemModstamp > 2025-12-31T23:59:59.000Z');
    const row = (Id: string, SystemModstamp: string): object => ({ Id, SystemModstamp });
    const records = [row(first, '2026-01-01T00:00:00.000+0000')];
    const judged = read.judge({ ...query, since: from + 500 }, '', [answerOf({ done: true, records })]);
    expect(judged).toMatchObject({ page: { records: [{ id: first, version: '2026-01-01T00:00:00.000Z' }] } });
  });

  it('reads an object without a time of change as a whole, and tells its versions by what they hold', () => {
    const object = { ...query.object, fields: fieldsOf(field('Id'), field('Name')) };
    const whole = { ...query, object };
    expect(soqlOf(whole)).toBe('SELECT Id, Name FROM Deal__c ORDER BY Id LIMIT 2000');
    const versionOf = (Name: string): unknown => {
      const judged = read.judge(whole, '', [answerOf({ done: true, records: [{ Id: first, Name }] })]);
      return 'page' in judged ? judged.page.records[0]?.version : judged;
    };
    expect(versionOf('a')).toBe(versionOf('a'));
    expect(versionOf('a')).not.toBe(versionOf('b'));
  });

  it.each([
    ['Name', `it's \\ "so"`, String.raw`Name = 'it\'s \\ "so"'`],
    ['name', 5, "Name = '5'"],
    ['Open__c', true, 'Open__c = true'],
    ['Open__c', 'FALSE', 'Open__c = false'],
    ['Amount__c', 12.5, 'Amount__c = 12.5'],
    ['Amount__c', '-3', 'Amount__c = -3'],
    ['Day__c', '2026-02-03', 'Day__c = 2026-02-03'],
    ['SystemModstamp', '2026-02-03T04:05:06+01:00', 'SystemModstamp = 2026-02-03T03:05:06.000Z'],
  ])('filters %s by %j', (fieldName, value, condition) => {
    const filtered = { ...query, filters: [{ fieldName, operator: 'eq', value }] };
    expect(read.refusal(filtered)).toBeUndefined();
    expect(soqlOf(filtered)).toContain(` AND ${condition} ORDER BY`);
  });

  it.each([
    ['Open__c', 'yes'],
    ['Amount__c', '1 OR 1 = 1'],
    ['Amount__c', ''],
    ['Day__c', '2026-02-03T00:00:00Z'],
    ['SystemModstamp', 'today'],
  ])('refuses to filter %s by %j', (fieldName, value) => {
    expect(read.refusal({ ...query, filters: [{ fieldName, operator: 'eq', value }] })).toMatchObject({
      category: 'validation',
      message: expect.stringContaining(fieldName),
    });
  });

  it('has no deleted records of an object without a recycle bin', () => {
    expect(read.refusal({ ...query, deleted: true })).toMatchObject({ category: 'validation' });
  });

  it('makes a job for many records, waits for it, reads its results and removes it', () => {
    const job = '750000000000001AAA';
    const steps = [
      [answerOf({ id: job, state: 'UploadComplete' }), { waitMs: 1_000 }],
      [answerOf({ id: job, state: 'InProgress' }), { waitMs: 2_000 }],
      [answerOf({ id: job, state: 'JobComplete' }), {}],
      [
        answerOf(
          `"Id","SystemModstamp","Name","Amount__c"\n"${first}","2026-01-01T00:00:05.000Z","a ""b"", c\nd","12345678901234567.50"\n`,
          200,
          { 'sforce-locator': 'more', 'sforce-numberofrecords': '1' },
        ),
        { records: [{ id: first, fields: { Name: 'a "b", c\nd' } }] },
      ],
      [
        answerOf('"Id","SystemModstamp","Name","Amount__c"\n', 200, {
          'sforce-locator': 'null',
          'sforce-numberofrecords': '0',
        }),
        { records: [] },
      ],
      [answerOf('', 204), { records: [] }],
    ] as const;
    let cursor: string | undefined = read.begin(query, true);
    const asked: string[] = [];
    let digits = '';
    for (const [answer, page] of steps) {
      const { method, path } = read.build(query, cursor ?? '');
      asked.push(`${method} ${path.replace('/services/data/v60.0/jobs/query', '')}`);
      const judged = read.judge(query, cursor ?? '', [answer]);
      expect(judged).toMatchObject({ page });
      if (!('page' in judged)) throw new Error('no page');
      digits += JSON.stringify(judged.page.records[0]?.raw['Amount__c']) ?? '';
      cursor = judged.page.next;
    }
    expect(cursor).toBeUndefined();
    expect(digits).toBe('12345678901234567.50');
    expect(asked).toEqual([
      'POST ',
      `GET /${job}`,
      `GET /${job}`,
      `GET /${job}/results?maxRecords=5000`,
      `GET /${job}/results?maxRecords=5000&locator=more`,
      `DELETE /${job}`,
    ]);
  });

  it('reads many fields by id, and leaves out what was deleted in between or changed after the time until', () => {
    const names = Array.from({ length: 300 }, (_name, at) => `A_field_of_some_length_${at}__c`);
    const fields = { ...query.object.fields, ...fieldsOf(...names.map((one) => field(one))) };
    const wide = { ...query, object: { ...query.object, fields }, fields: names };
    const ids = [1, 2, 3].map((one) => `a0000000000000${one}AAA`);
    const SystemModstamp = '2026-01-01T00:00:05.000+0000';
    const page = answerOf({ done: true, records: ids.map((Id) => ({ Id, SystemModstamp })) });
    const asked = read.judge(wide, '', [page]);
    expect(asked).toMatchObject({ ask: [{ method: 'POST', body: { ids } }] });
    const changed = { Id: ids[0], SystemModstamp: '2026-01-01T00:00:11.000+0000' };
    const standing = { Id: ids[2], SystemModstamp, A_field_of_some_length_299__c: 'x' };
    const judged = read.judge(wide, '', [page, answerOf([changed, null, standing])]);
    expect(judged).toMatchObject({ page: { records: [{ id: ids[2], raw: standing }] } });
    expect('page' in judged && judged.page.records.length).toBe(1);
    for (const body of [
      [changed, standing],
      [standing, null, changed],
      [1, 2, 3],
      {},
      [{ Id: { toString: 1 } }, null, standing],
    ]) {
      expect(read.judge(wide, '', [page, answerOf(body)])).toMatchObject({
        failure: { category: 'providerDown', retryable: true },
      });
    }
  });

  it('begins again when the job is gone or ended badly, unless the query itself was at fault', () => {
    const wait = JSON.stringify({ step: 'wait', job: '750000000000001AAA', polls: 3 });
    const gone = answerOf([{ errorCode: 'NOT_FOUND', message: 'gone' }], 404);
    expect(read.judge(query, wait, [gone])).toMatchObject({ begin: true, failure: { category: 'notFound' } });
    const failed = answerOf({ id: '750000000000001AAA', state: 'Failed', errorMessage: 'too slow' });
    expect(read.judge(query, wait, [failed])).toMatchObject({
      begin: true,
      failure: { category: 'providerDown', retryable: true, message: expect.stringContaining('too slow') },
    });
    for (const [errorMessage, category] of [
      ["INVALID_FIELD: No such column 'Nme' on entity 'Contact'", 'validation'],
      ['MALFORMED_QUERY: unexpected token', 'validation'],
      ['INSUFFICIENT_ACCESS: not yours', 'permission'],
    ]) {
      const wrong = answerOf({ id: '750000000000001AAA', state: 'Failed', errorMessage });
      const judged = read.judge(query, wait, [wrong]);
      expect(judged).toMatchObject({ failure: { category, retryable: false } });
      expect(judged).not.toHaveProperty('begin');
    }
    const busy = answerOf([{ errorCode: 'SERVER_UNAVAILABLE', message: 'busy' }], 503);
    expect(read.judge(query, wait, [busy])).not.toHaveProperty('begin');
  });

  it.each([
    ['half a row', `"Id","SystemModstamp"\n"${first}","2026-01`, '1'],
    ['fewer rows than announced', `"Id","SystemModstamp"\n`, '1'],
    ['a row of another width', `"Id","SystemModstamp"\n"${first}"\n`, '1'],
    ['no ids', `"Name"\n"a"\n`, '1'],
    ['a page of HTML', '<html></html>', '0'],
  ])('refuses results with %s', (_what, body, count) => {
    const cursor = JSON.stringify({ step: 'results', job: '750000000000001AAA' });
    const headers = { 'sforce-locator': 'null', 'sforce-numberofrecords': count };
    expect(read.judge(query, cursor, [answerOf(body, 200, headers)])).toMatchObject({
      failure: { category: 'providerDown', retryable: true },
    });
  });

  it('reads compound fields by REST, for bulk results have none', () => {
    expect(read.begin({ ...query, fields: ['Place__c'] }, true)).toBe(read.begin(query, false));
  });

  it('keeps the digits of numbers', () => {
    const raw = `{"Id":"${first}","SystemModstamp":"2026-01-01T00:00:05.000+0000","Amount__c":12345678901234567.50}`;
    const judged = read.judge(query, '', [answerOf(`{"done":true,"records":[${raw}]}`)]);
    expect('page' in judged && JSON.stringify(judged.page.records[0]?.raw)).toBe(raw);
  });

  it.each([
    [
      'the record that the page before ended with',
      first,
      { done: false, records: [{ Id: first, SystemModstamp: '2026-01-01T00:00:05Z' }] },
    ],
    ['a record without an id', '', { done: true, records: [{ SystemModstamp: '2026-01-01T00:00:05Z' }] }],
    ['a record without a time', '', { done: true, records: [{ Id: first }] }],
    ['no word on whether it is the last', '', { records: [] }],
  ])('refuses a page with %s', (_what, cursor, body) => {
    expect(read.judge(query, cursor, [answerOf(body)])).toMatchObject({
      failure: { category: 'providerDown', retryable: true },
    });
  });
});
