import { describe, expect, test } from 'vitest';
import type { HttpAnswer } from '../../kit/http/client.ts';
import type { ObjectDescription } from '../connector.ts';
import { resolve } from './resolve.ts';

const answer = (body: unknown, status = 200): HttpAnswer => ({
  status,
  headers: {},
  body: JSON.stringify(body),
});
const field = (fieldName: string, valueType: 'string' | 'float' = 'string') => ({
  fieldName,
  displayName: '',
  valueType,
});

describe('src/providers/salesforce/resolve', () => {
  test('text fields that are unique identify, where the time of creation is shown', () => {
    const description: ObjectDescription = {
      name: 'Contact',
      displayName: '',
      fields: { CreatedDate: field('CreatedDate'), Key__c: field('Key__c'), No__c: field('No__c', 'float') },
      uniqueFields: [
        { name: 'No__c', enforced: true },
        { name: 'Key__c', enforced: false },
      ],
    };
    expect(resolve.uniqueFields('Contact', description)).toEqual([{ name: 'Key__c', enforced: false }]);
    expect(resolve.uniqueFields('Contact', { ...description, fields: { Key__c: field('Key__c') } })).toEqual(
      [],
    );
    expect(resolve.uniqueFields('Contact', undefined)).toEqual([]);
  });

  test('queries by equality, with the values quoted', () => {
    const { method, path } = resolve.build('Contact', 'Key__c', ["o'b\\", 'x'], ['LastName', 'Id', 'Key__c']);
    expect(method).toBe('GET');
    expect(decodeURIComponent(path)).toBe(
      String.raw`/services/data/v60.0/query?q=SELECT Id, CreatedDate, Key__c, LastName FROM Contact WHERE Key__c IN ('o\'b\\', 'x')`,
    );
    expect(() => resolve.build('Contact', 'Key__c) OR (Id', [], [])).toThrow('not a name');
  });

  test('names each field once, in whatever case it was given, and judges it by each of these', () => {
    const fields = ['LastName', 'key__c', 'lastname', 'ID', 'createddate'];
    expect(decodeURIComponent(resolve.build('Contact', 'Key__c', ['x'], fields).path)).toContain(
      'SELECT Id, CreatedDate, Key__c, LastName FROM',
    );
    const row = { Id: '1', CreatedDate: '2026-01-02T03:04:05Z', Key__c: 'x', LastName: 'L' };
    const read = resolve.judge('Key__c', ['x'], fields, answer({ done: true, records: [row] }));
    const own = { LastName: 'L', key__c: 'x', lastname: 'L', ID: '1', createddate: row.CreatedDate };
    expect(read).toEqual({ found: new Map([['x', [expect.objectContaining({ fields: own })]]]) });
  });

  test('a value stands in the query as the type of its field has it, and one that is none is refused', () => {
    const description: ObjectDescription = {
      name: 'Contact',
      displayName: '',
      fields: { No__c: field('No__c', 'float'), Key__c: field('Key__c') },
    };
    const asked = (by: string) =>
      decodeURIComponent(resolve.build('Contact', by, ['7', '-1.50'], [], description).path);
    expect(asked('no__c')).toMatch(/WHERE no__c IN \(7, -1\.50\)$/);
    expect(asked('Key__c')).toMatch(/WHERE Key__c IN \('7', '-1\.50'\)$/);
    for (const value of ['x', '1e3', "7' OR Name != '"])
      expect(resolve.faultOfValue?.('No__c', value, description)).toMatchObject({ category: 'validation' });
    expect(resolve.faultOfValue?.('Key__c', 'x', description)).toBeUndefined();
    expect(resolve.faultOfValue?.('No__c', 'x', undefined)).toBeUndefined();
  });

  test('a number is the same in another notation, and no neighbour of it', () => {
    const judged = (row: string, values: string[]) =>
      resolve.judge('No__c', values, [], {
        status: 200,
        headers: {},
        body: `{"done":true,"records":[{"Id":"1","CreatedDate":"2026-01-02T03:04:05Z","No__c":${row}}]}`,
      });
    const found = (row: string, values: string[]) => [
      ...(judged(row, values) as { found: Map<string, unknown> }).found.keys(),
    ];
    expect(found('7.0', ['7', '007.00', '70', '-7'])).toEqual(['7', '007.00']);
    expect(found('0.0', ['0', '00'])).toEqual(['0', '00']);
    expect(found('900719925474099301', ['900719925474099301', '900719925474099302'])).toEqual([
      '900719925474099301',
    ]);
    expect(found('1.5E7', ['15000000', '1.5e7', '15000001'])).toEqual(['15000000', '1.5e7']);
    // Salesforce shows a double; what was asked for may have more digits than that holds.
    expect(found('9.007199254740992E15', ['9007199254740993', '9007199254740990'])).toEqual([
      '9007199254740993',
    ]);
    expect(found('1234567.123456789', ['1234567.1234567890'])).toEqual(['1234567.1234567890']);
    expect(found('1.0E-7', ['0.0000001', '0.0000002'])).toEqual(['0.0000001']);
    expect(found('-1.0E-7', ['-0.00000010'])).toEqual(['-0.00000010']);
    expect(found('1.0E21', ['1000000000000000000000'])).toEqual(['1000000000000000000000']);
    expect(found('0.0', ['-0', '-0.00'])).toEqual(['-0', '-0.00']);
    expect(found('-0.0', ['0'])).toEqual(['0']);
  });

  test('rows are told by their value without case; several may have one', () => {
    const row = (Id: string, Key__c: string) => ({
      Id,
      Key__c,
      CreatedDate: '2026-01-02T03:04:05.000+0000',
      LastName: 'L',
    });
    const read = resolve.judge(
      'key__c',
      ['a', 'b'],
      ['lastname'],
      answer({ done: true, records: [row('1', 'A'), row('2', 'a')] }),
    );
    const createdAt = Date.parse('2026-01-02T03:04:05Z');
    expect(read).toEqual({
      found: new Map([
        [
          'a',
          [
            { recordId: '1', createdAt, fields: { lastname: 'L' } },
            { recordId: '2', createdAt, fields: { lastname: 'L' } },
          ],
        ],
      ]),
    });
  });

  test.each([
    ['a limit', answer([{ errorCode: 'REQUEST_LIMIT_EXCEEDED' }], 403), { category: 'rateLimit' }],
    ['half an answer', { status: 200, headers: {}, body: '{"records":[' }, { category: 'providerDown' }],
    ['a record without its id', answer({ done: true, records: [{ Key__c: 'a' }] }), {}],
    ['an answer that does not say whether it is whole', answer({ records: [] }), {}],
    ['a field that is gone', answer([{ errorCode: 'INVALID_FIELD' }], 400), { retryable: false }],
  ])('%s is no "not there"', (_what, given, failure) => {
    expect(resolve.judge('Key__c', ['a'], [], given)).toMatchObject({ failure });
  });
  test('an answer that goes on on another page tells of no value', () => {
    const page = answer({ totalSize: 2_001, done: false, nextRecordsUrl: '/next', records: [] });
    expect(resolve.judge('Key__c', ['a', 'b'], [], page)).toMatchObject({
      untold: { category: 'conflict', retryable: false },
    });
  });
  test('rows are told by their value with its case, where the field regards it', () => {
    const description: ObjectDescription = {
      name: 'Contact',
      displayName: '',
      fields: { Key__c: field('Key__c') },
      uniqueFields: [{ name: 'Key__c', enforced: true, caseSensitive: true }],
    };
    const row = { Id: '1', CreatedDate: '2026-01-02T03:04:05Z', Key__c: 'A' };
    const judged = (values: string[]) =>
      resolve.judge('key__c', values, [], answer({ done: true, records: [row] }), description);
    expect(judged(['a', 'A'])).toEqual({
      found: new Map([['A', [expect.objectContaining({ recordId: '1' })]]]),
    });
    expect(judged(['a'])).toHaveProperty('untold');
  });

  describe('a record of no value that was asked for', () => {
    const found = (own: unknown, values: string[]) =>
      resolve.judge('Key__c', values, [], {
        status: 200,
        headers: {},
        body: JSON.stringify({
          done: true,
          records: [{ Id: '1', CreatedDate: '2026-01-02T03:04:05Z', Key__c: own }],
        }),
      });

    test.each([
      ['STRASSE', ['x', 'straße'], 'straße'],
      ['e\u0301clair', ['x', 'ÉCLAIR'], 'ÉCLAIR'],
    ])('%s was found by the one that is alike: %j', (own, values, one) => {
      expect(found(own, values)).toEqual({
        found: new Map([[one, [expect.objectContaining({ recordId: '1' })]]]),
      });
    });

    test.each([
      ['of none', 'other', ['a']],
      ['of several alike', 'e\u0301clair', ['ÉCLAIR', 'ECLAIR']],
      ['of its own and one that is alike', 'straße', ['straße', 'STRASSE']],
      ['without its value', undefined, ['a']],
      ['with a number', 8, ['7']],
    ])('leaves open which of them stands there: %s', (_what, own, values) => {
      expect(found(own, values)).toMatchObject({ untold: { category: 'providerDown', retryable: true } });
    });
  });
});
