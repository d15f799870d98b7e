import { describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../../kit/http/client.ts';
import type { WriteCall, WriteRecord } from '../connector.ts';
import { write } from './write.ts';

function call(kind: WriteCall['kind'], records: WriteRecord[], more: Partial<WriteCall> = {}): WriteCall {
  return { kind, objectName: 'Contact', records, allOrNone: false, headers: [], ...more };
}

function answer(status: number, body: unknown): HttpAnswer {
  return { status, headers: {}, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

const [contactA, contactB, contactC] = ['0035g00000AAAAA', '0035g00000BBBBB', '0035g00000CCCCC'];
const people = ['A', 'B', 'C'].map((LastName) => ({ fields: { LastName } }));
const done = (id: string): object => ({ id, success: true, errors: [] });
const failed = (statusCode: string): object => ({
  success: false,
  errors: [{ statusCode, message: 'm', fields: [] }],
});

describe('src/providers/salesforce/write', () => {
  it('writes one record as flat fields, with its id in the path only', () => {
    const record = {
      id: contactA,
      fields: { Id: contactA, LastName: 'X', Age__c: 7, attributes: { type: 'User' } },
    };
    const body = { LastName: 'X', Age__c: 7 };
    expect(write.build(call('create', [record]))).toEqual({
      method: 'POST',
      path: '/services/data/v60.0/sobjects/Contact',
      body,
    });
    expect(write.build(call('update', [record]))).toEqual({
      method: 'PATCH',
      path: `/services/data/v60.0/sobjects/Contact/${contactA}`,
      body,
    });
    expect(write.build(call('delete', [record]))).toEqual({
      method: 'DELETE',
      path: `/services/data/v60.0/sobjects/Contact/${contactA}`,
    });
  });

  it('writes several as a collection of the call’s own type, whatever a record says', () => {
    const records = [
      { id: contactA, fields: { LastName: 'X', attributes: { type: 'User' } } },
      { id: contactB, fields: { LastName: 'Y' } },
    ];
    expect(write.build(call('update', records, { allOrNone: true }))).toEqual({
      method: 'PATCH',
      path: '/services/data/v60.0/composite/sobjects',
      body: {
        allOrNone: true,
        records: [
          { attributes: { type: 'Contact' }, id: contactA, LastName: 'X' },
          { attributes: { type: 'Contact' }, id: contactB, LastName: 'Y' },
        ],
      },
    });
    expect(write.build(call('create', people)).method).toBe('POST');
  });

  it('writes by the path of a value only where no format can be read from its end', () => {
    const pathOf = (key: string): string => {
      const record = { key, fields: { Key__c: key, LastName: 'X' } };
      return write.build(call('upsert', [record], { upsertBy: 'Key__c' })).path;
    };
    expect(['K-1', 'a@b', '7+x'].map(pathOf)).toEqual(
      ['K-1', 'a%40b', '7%2Bx'].map((value) => `/services/data/v60.0/sobjects/Contact/Key__c/${value}`),
    );
    for (const key of ['K.json', 'a@b.inc', '1.5', 'K.', '.', 'a/b', 'K '])
      expect(pathOf(key)).toBe('/services/data/v60.0/composite/sobjects/Contact/Key__c');
  });

  it('a text that records of a batch go by stands there as in the path of one alone, a number as it came', () => {
    const records = [
      { key: 'K-1', fields: { key__C: ' K-1 ', Name: ' A ' } },
      { key: '7', fields: { Key__c: 7 } },
    ];
    const { body } = write.build(call('upsert', records, { upsertBy: 'Key__c' }));
    const attributes = { type: 'Contact' };
    expect(body).toMatchObject({
      records: [
        { attributes, key__C: 'K-1', Name: ' A ' },
        { attributes, Key__c: 7 },
      ],
    });
  });

  it('writes nothing where several records have the value of the path', () => {
    const one = call('upsert', [{ key: 'K-1', fields: {} }], { upsertBy: 'Key__c' });
    const twins = [contactA, contactB].map((id) => `/services/data/v60.0/sobjects/Contact/${id}`);
    expect(write.judge(one, answer(300, twins))).toMatchObject([
      { kind: 'notApplied', failure: { category: 'conflict', retryable: false, provider: { status: 300 } } },
    ]);
  });

  it('forwards headers, the last of two with one name, and none that carries credentials or framing', () => {
    const headers = [
      { key: 'Sforce-Auto-Assign', value: 'TRUE' },
      { key: 'sforce-auto-assign', value: 'FALSE' },
      { key: 'Authorization', value: 'Bearer x' },
      { key: 'Content-Length', value: '1' },
    ];
    expect(write.build(call('delete', [{ id: contactA, fields: {} }], { headers })).headers).toEqual({
      'sforce-auto-assign': 'FALSE',
    });
  });

  it('takes the id of a created record, and has nothing to show back', () => {
    expect(write.judge(call('create', [people[0]!]), answer(201, done(contactA)))).toEqual([
      { kind: 'applied', recordId: contactA },
    ]);
    expect(write.judge(call('update', [{ id: contactB, fields: {} }]), answer(204, ''))).toEqual([
      { kind: 'applied', recordId: contactB },
    ]);
    expect(write.judge(call('create', [people[0]!]), answer(201, done('0\0')))).toMatchObject([
      { kind: 'unknown' },
    ]);
  });

  it('judges the items of a collection in its order', () => {
    expect(
      write.judge(
        call('create', people),
        answer(200, [done(contactA), failed('REQUIRED_FIELD_MISSING'), done(contactC)]),
      ),
    ).toMatchObject([
      { kind: 'applied', recordId: contactA },
      {
        kind: 'notApplied',
        failure: { category: 'validation', provider: { code: 'REQUIRED_FIELD_MISSING' } },
      },
      { kind: 'applied', recordId: contactC },
    ]);
  });

  it('lets records that were rolled back share the fate of the one that caused it', () => {
    const rolledBack = failed('ALL_OR_NONE_OPERATION_ROLLED_BACK');
    const refused = write.judge(
      call('create', people, { allOrNone: true }),
      answer(200, [rolledBack, failed('INVALID_EMAIL_ADDRESS'), rolledBack]),
    );
    expect(refused.map((one) => one.kind === 'notApplied' && one.failure.retryable)).toEqual([
      false,
      false,
      false,
    ]);
    const locked = write.judge(
      call('create', people, { allOrNone: true }),
      answer(200, [rolledBack, failed('UNABLE_TO_LOCK_ROW'), rolledBack]),
    );
    expect(locked).toMatchObject([
      {
        kind: 'notApplied',
        failure: { retryable: true, provider: { code: 'ALL_OR_NONE_OPERATION_ROLLED_BACK' } },
      },
      { kind: 'notApplied', failure: { retryable: true } },
      { kind: 'notApplied', failure: { retryable: true } },
    ]);
  });

  it.each([
    ['half a body', 200, '[{"id":"003A","succ'],
    ['too few items', 200, [done(contactA)]],
    ['items that say nothing', 200, [{}, null, 7]],
    ['an object', 200, { id: contactA }],
    ['a server fault', 500, [{ errorCode: 'UNKNOWN_EXCEPTION', message: 'm' }]],
    ['a bad gateway', 502, ''],
    ['a late gateway', 504, ''],
  ])('does not know what became of a collection that was answered with %s', (_name, status, body) => {
    for (const outcome of write.judge(call('create', people), answer(status, body))) {
      expect(outcome).toMatchObject({
        kind: 'unknown',
        failure: { category: 'unknownOutcome', retryable: false },
      });
    }
  });

  it.each(['7', '0035g00000AAAA', '0035g00000AAAAAQ', '0035g00000AAAA-'])(
    'refuses %s, which is no record id, before anything is sent: Salesforce refuses a whole read for it',
    (id) => {
      expect(write.refusal(call('update', [{ id, fields: {} }]))).toMatchObject({
        category: 'validation',
        retryable: false,
      });
      expect(write.refusal(call('update', [{ id: contactA, fields: {} }]))).toBeUndefined();
      expect(write.refusal(call('update', [{ id: `${contactA}AAA`, fields: {} }]))).toBeUndefined();
    },
  );

  it('judges a refusal of the whole call for each record', () => {
    const outcomes = write.judge(
      call('create', people),
      answer(400, [{ errorCode: 'JSON_PARSER_ERROR', message: 'm' }]),
    );
    expect(outcomes.map((one) => one.kind)).toEqual(['notApplied', 'notApplied', 'notApplied']);
  });
});
