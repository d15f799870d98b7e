import { describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../../kit/http/client.ts';
import { parseJson } from '../../kit/json.ts';
import { readAssociations } from './read-associations.ts';

const answer = (body: unknown, status = 200): HttpAnswer => ({
  status,
  headers: {},
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const typed = { category: 'HUBSPOT_DEFINED', typeId: 279, label: null };
const result = (id: string, to: unknown[], after?: unknown): object => ({
  from: { id },
  to: to.map((toObjectId) => ({ toObjectId, associationTypes: [typed] })),
  ...(after === undefined ? {} : { paging: { next: { after } } }),
});
const complete = (results: unknown[], errors: unknown[] = []): HttpAnswer =>
  answer({ status: 'COMPLETE', results, errors }, errors.length > 0 ? 207 : 200);
const none = (id: string): object => ({
  status: 'error',
  category: 'OBJECT_NOT_FOUND',
  subCategory: 'crm.associations.NO_ASSOCIATIONS_FOUND',
  context: { fromObjectId: [id] },
});
const of = [{ id: '1' }, { id: '2', after: '500' }];

describe('src/providers/hubspot/read-associations', () => {
  it('asks for the rest of a record where the answer before it ended', () => {
    expect(readAssociations.build('contacts', 'companies', of)).toEqual({
      method: 'POST',
      path: '/crm/v4/associations/contacts/companies/batch/read',
      body: { inputs: [{ id: '1' }, { id: '2', after: '500' }] },
    });
  });

  it('refuses names that fit no path, and owners', () => {
    expect(readAssociations.refusal('contacts', 'deals')).toBeUndefined();
    expect(readAssociations.refusal('contacts', 'a/b')).toMatchObject({ category: 'validation' });
    expect(readAssociations.refusal('contacts', 'Owners')).toMatchObject({
      message: expect.stringMatching(/owners/),
    });
  });

  it('takes a record without associations for one that has none, although it is told as an error', () => {
    const judged = readAssociations.judge(of, complete([result('2', [9], '1000')], [none('1')]));
    expect(judged).toEqual({
      found: new Map([
        ['1', []],
        ['2', [{ id: '9', types: [typed] }]],
      ]),
      more: [{ id: '2', after: '1000' }],
    });
  });

  it('reads ids as numbers and as texts, with all their digits', () => {
    const big = '9007199254740993';
    const body = JSON.stringify({ status: 'COMPLETE', results: [result('1', ['7'])] });
    const judged = readAssociations.judge(of, answer(body.replace('"7"', big)));
    expect(parseJson(big)).not.toBe(Number(big));
    const found = (id: string): object => ({
      found: new Map([
        ['1', [{ id, types: [typed] }]],
        ['2', []],
      ]),
      more: [],
    });
    expect(judged).toEqual(found(big));
    expect(readAssociations.judge(of, complete([result('1', ['8'])]))).toEqual(found('8'));
  });

  it.each([
    ['another error', complete([], [{ ...none('1'), category: 'MISSING_SCOPES' }]), 'permission'],
    ['a refusal', answer({ category: 'MISSING_SCOPES', message: 'no' }, 403), 'permission'],
    ['a limit', answer({ errorType: 'RATE_LIMIT', policyName: 'DAILY' }, 429), 'rateLimit'],
    ['an answer that is not complete', answer({ status: 'PROCESSING', results: [] }), 'providerDown'],
    ['a page of HTML', answer('<html>'), 'providerDown'],
    ['a record that nobody asked for', complete([result('3', [9])]), 'providerDown'],
    ['an id that is none', complete([result('1', ['x/y'])]), 'providerDown'],
    ['a cursor of another form', complete([result('1', [9], 500)]), 'providerDown'],
    ['a rest in another form', complete([{ ...result('1', [9]), paging: { next: '500' } }]), 'providerDown'],
    ['an association of no type', complete([{ from: { id: '1' }, to: [{ toObjectId: 9 }] }]), 'providerDown'],
    ['a place that leads to itself', complete([result('2', [9], '500')]), 'providerDown'],
  ])('fails on %s', (_what, given, category) => {
    expect(readAssociations.judge(of, given)).toMatchObject({ failure: { category } });
  });
});
