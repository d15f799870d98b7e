import { describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../../kit/http/client.ts';
import type { WriteCall, WriteRecord } from '../connector.ts';
import { write } from './write.ts';

function call(kind: WriteCall['kind'], records: WriteRecord[], more: Partial<WriteCall> = {}): WriteCall {
  return { kind, objectName: 'contacts', records, allOrNone: false, headers: [], ...more };
}

function answer(status: number, body: unknown): HttpAnswer {
  return { status, headers: {}, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

const person = (email: string): WriteRecord => ({ fields: { email } });
const shown = (id: string, properties: object, more: object = {}): object => ({
  id,
  properties,
  createdAt: '2024-01-02T03:04:05.678Z',
  archived: false,
  ...more,
});

describe('src/providers/hubspot/write', () => {
  it('creates with the values as given and without an id among the properties', () => {
    const associations = [
      { to: { id: '9' }, types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 279 }] },
    ];
    const record = { fields: { id: '5', email: 'a@b.co', age: 7, note: null }, associations };
    expect(write.build(call('create', [record]))).toEqual({
      method: 'POST',
      path: '/crm/v3/objects/contacts',
      body: { properties: { email: 'a@b.co', age: 7, note: null }, associations },
    });
  });

  it('updates and deletes by the id in the path, and leaves associations out of an update', () => {
    const record = { id: '5', fields: { id: '5', email: 'a@b.co' }, associations: [] };
    expect(write.build(call('update', [record]))).toEqual({
      method: 'PATCH',
      path: '/crm/v3/objects/contacts/5',
      body: { properties: { email: 'a@b.co' } },
    });
    expect(write.build(call('delete', [record]))).toEqual({
      method: 'DELETE',
      path: '/crm/v3/objects/contacts/5',
    });
  });

  it('gives every input of a partial create a trace id of its own, and none with allOrNone', () => {
    const records = [person('a@b.co'), person('c@d.co')];
    expect(write.build(call('create', records))).toEqual({
      method: 'POST',
      path: '/crm/v3/objects/contacts/batch/create',
      body: {
        inputs: [
          { objectWriteTraceId: 'r0', properties: { email: 'a@b.co' } },
          { objectWriteTraceId: 'r1', properties: { email: 'c@d.co' } },
        ],
      },
    });
    const atomic = write.build(call('create', records, { allOrNone: true })).body as { inputs: object[] };
    expect(atomic.inputs).toEqual([{ properties: { email: 'a@b.co' } }, { properties: { email: 'c@d.co' } }]);
  });

  it('shows back the properties beside the id, without the envelope', () => {
    const body = shown('512', { email: 'a@b.co', hs_object_id: '512', age: null });
    expect(write.judge(call('create', [person('a@b.co')]), answer(201, body))).toEqual([
      {
        kind: 'applied',
        recordId: '512',
        data: { id: '512', email: 'a@b.co', hs_object_id: '512', age: null },
      },
    ]);
  });

  it.each(['5\0', '5\ud800'])('takes an id that cannot be kept, %j, for none', (id) => {
    expect(write.judge(call('create', [person('a@b.co')]), answer(201, shown(id, {})))).toMatchObject([
      { kind: 'unknown', failure: { category: 'unknownOutcome', retryable: false } },
    ]);
  });

  it('matches shuffled results by trace id', () => {
    const results = [
      shown('3', { email: 'same' }, { objectWriteTraceId: 'r2' }),
      shown('1', { email: 'same' }, { objectWriteTraceId: 'r0' }),
    ];
    const errors = [
      {
        category: 'CONFLICT',
        message: 'Contact already exists. Existing ID: 512',
        context: { objectWriteTraceId: ['r1'] },
      },
    ];
    expect(
      write.judge(
        call('create', [person('same'), person('same'), person('same')]),
        answer(207, { results, errors }),
      ),
    ).toMatchObject([
      { kind: 'applied', recordId: '1' },
      { kind: 'notApplied', failure: { category: 'conflict', retryable: false } },
      { kind: 'applied', recordId: '3' },
    ]);
  });

  it('matches results that echo no trace id by a property that only one record has, whatever its case', () => {
    const results = [
      shown('2', { lastname: 'Same', email: 'b@x.co' }),
      shown('1', { lastname: 'Same', email: 'a@x.co' }),
    ];
    const records = ['A@x.co', 'B@x.co'].map((email) => ({ fields: { lastname: 'Same', email } }));
    expect(write.judge(call('create', records), answer(201, { results }))).toMatchObject([
      { recordId: '1' },
      { recordId: '2' },
    ]);
  });

  it('never guesses by position: records alike were written, but whose id is whose stays open', () => {
    const results = [shown('2', { lastname: 'Same' }), shown('1', { lastname: 'Same' })];
    const records = [{ fields: { lastname: 'Same' } }, { fields: { lastname: 'Same' } }];
    expect(write.judge(call('create', records, { allOrNone: true }), answer(201, { results }))).toEqual([
      { kind: 'applied' },
      { kind: 'applied' },
    ]);
  });

  it('one result belongs to the one record of an upsert, whatever it echoes; two belong to none', () => {
    const record = { key: 'a@x.co', fields: { email: 'a@x.co', phone: '(1) 2' } };
    const upsert = call('upsert', [record], { upsertBy: 'email' });
    const [own, other] = ['1', '2'].map((id) => shown(id, { phone: '12' }, { new: false }));
    expect(write.judge(upsert, answer(200, { results: [own] }))).toMatchObject([
      { kind: 'applied', recordId: '1', created: false },
    ]);
    for (const body of [{ results: [own, other] }, { results: [own], errors: [{ message: 'bad' }] }])
      expect(write.judge(upsert, answer(207, body))).toMatchObject([{ kind: 'unknown' }]);
    expect(write.judge(upsert, answer(200, { results: [{ properties: {} }] }))).toEqual([
      { kind: 'applied' },
    ]);
  });

  it('does not know of a record that the answer leaves out', () => {
    const results = [shown('1', { email: 'a@x.co' })];
    expect(
      write.judge(call('create', [person('a@x.co'), person('b@x.co')]), answer(201, { results })),
    ).toMatchObject([
      { kind: 'applied', recordId: '1' },
      { kind: 'unknown', failure: { category: 'unknownOutcome', retryable: false } },
    ]);
  });

  it('gives an error without a context to the only record left', () => {
    const results = [shown('1', { email: 'a@x.co' })];
    const errors = [{ category: 'VALIDATION_ERROR', message: 'bad' }];
    expect(
      write.judge(call('create', [person('a@x.co'), person('b@x.co')]), answer(207, { results, errors })),
    ).toMatchObject([
      { kind: 'applied' },
      { kind: 'notApplied', failure: { category: 'validation', provider: { message: 'bad' } } },
    ]);
  });

  it('matches updates by id, one error naming several', () => {
    const records = ['7', '8', '9'].map((id) => ({ id, fields: { lastname: 'X' } }));
    const body = {
      results: [shown('8', { lastname: 'X' })],
      errors: [{ category: 'OBJECT_NOT_FOUND', context: { ids: ['9', '7'] } }],
    };
    expect(write.judge(call('update', records), answer(207, body))).toMatchObject([
      { kind: 'notApplied', failure: { category: 'notFound' } },
      { kind: 'applied', recordId: '8' },
      { kind: 'notApplied', failure: { category: 'notFound' } },
    ]);
  });

  it('judges a refusal of the whole call for each record', () => {
    const outcomes = write.judge(
      call('create', [person('a'), person('b')]),
      answer(409, { category: 'CONFLICT', message: 'Contact already exists. Existing ID: 512' }),
    );
    expect(outcomes).toHaveLength(2);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ kind: 'notApplied', failure: { category: 'conflict' } });
  });

  it.each([
    ['half a body', 201, '{"id":"5'],
    ['nothing', 201, ''],
    ['a page', 200, '<html></html>'],
    ['no id', 201, { properties: {} }],
    ['an unreadable promise', 202, ''],
    ['a server fault', 500, ''],
    ['a bad gateway', 502, '<html>'],
    ['a late gateway', 504, ''],
    ['a cut connection at the edge', 520, ''],
    ['a late origin', 524, ''],
    ['a late request', 408, ''],
  ])('does not know whether a create was done that was answered with %s', (_name, status, body) => {
    for (const records of [[person('a')], [person('a'), person('b')]]) {
      for (const outcome of write.judge(call('create', records), answer(status, body))) {
        expect(outcome).toMatchObject({
          kind: 'unknown',
          failure: { category: 'unknownOutcome', retryable: false },
        });
      }
    }
  });

  it.each([{ context: { objectWriteTraceId: ['r0'] } }, {}])(
    'does not know what became of a record for which HubSpot answers with a fault of its own (%j)',
    (about) => {
      const results = [shown('2', {}, { objectWriteTraceId: 'r1' })];
      const errors = [{ category: 'INTERNAL_ERROR', message: 'oops', ...about }];
      const judged = (kind: 'create' | 'update') =>
        write.judge(
          call(kind, [
            { id: '1', ...person('a') },
            { id: '2', ...person('b') },
          ]),
          answer(207, { results, errors }),
        );
      const failure = { category: 'unknownOutcome', message: expect.stringContaining('oops') as string };
      expect(judged('create')).toMatchObject([
        { kind: 'unknown', failure: { ...failure, retryable: false } },
        { kind: 'applied', recordId: '2' },
      ]);
      expect(judged('update')[0]).toMatchObject({
        kind: 'unknown',
        failure: { ...failure, retryable: true },
      });
    },
  );

  it('does not know what became of a record that an answer says two things of', () => {
    const traced = (index: number): object => ({ objectWriteTraceId: `r${index}` });
    const results = [
      shown('1', {}, traced(0)),
      shown('2', {}, traced(1)),
      shown('3', {}, traced(1)),
      shown('4', {}, traced(2)),
      shown('4', {}, traced(2)),
    ];
    const errors = [{ category: 'VALIDATION_ERROR', message: 'no', context: { objectWriteTraceId: ['r0'] } }];
    const records = [person('a'), person('b'), person('c')];
    expect(write.judge(call('create', records), answer(207, { results, errors }))).toMatchObject([
      { kind: 'unknown' },
      { kind: 'unknown' },
      { kind: 'applied', recordId: '4' },
    ]);
  });

  it.each([521, 523, 525, 526])(
    'knows that nothing was done when the origin was not reached (%i)',
    (status) => {
      expect(write.judge(call('create', [person('a')]), answer(status, ''))).toMatchObject([
        { kind: 'notApplied', failure: { category: 'providerDown', retryable: true } },
      ]);
    },
  );
});
