import { describe, expect, test } from 'vitest';
import type { HttpAnswer } from '../../kit/http/client.ts';
import { resolve } from './resolve.ts';

const answer = (body: unknown, status = 200): HttpAnswer => ({
  status,
  headers: {},
  body: JSON.stringify(body),
});
const contact = (id: string, properties: Record<string, unknown>) => ({
  id,
  createdAt: '2026-01-02T03:04:05.678Z',
  properties,
});

describe('src/providers/hubspot/resolve', () => {
  test('a contact is unique by its email, described or not; other objects by what is described', () => {
    const email = { name: 'email', enforced: true };
    for (const name of ['contacts', 'CONTACT', '0-1'])
      expect(resolve.uniqueFields(name, undefined)).toEqual([email]);
    expect(resolve.uniqueFields('companies', undefined)).toEqual([]);
    const described = { name: '', displayName: '', fields: {}, uniqueFields: [email] };
    expect(resolve.uniqueFields('contacts', described)).toEqual([email]);
    expect(resolve.uniqueFields('companies', described)).toEqual([email]);
  });

  test('reads in batch by the property, never by search', () => {
    expect(resolve.build('contacts', 'email', ['a@b.co'], ['firstname'])).toEqual({
      method: 'POST',
      path: '/crm/v3/objects/contacts/batch/read',
      body: {
        idProperty: 'email',
        inputs: [{ id: 'a@b.co' }],
        properties: ['email', 'hs_additional_emails', 'firstname'],
      },
    });
  });

  test('results are told by their value, in any case and order, also by a further address; unset ones are null', () => {
    const body = {
      results: [
        contact('2', { email: 'main@b.co', hs_additional_emails: 'x@b.co;Old@b.co' }),
        contact('1', { email: 'a@b.co', firstname: 'Ada' }),
      ],
      errors: [{ category: 'OBJECT_NOT_FOUND', context: { ids: ['gone@b.co'] } }],
    };
    const values = ['A@b.co', 'old@b.co', 'gone@b.co'];
    const read = resolve.judge('email', values, ['firstname'], answer(body, 207));
    const createdAt = Date.parse('2026-01-02T03:04:05.678Z');
    expect(read).toEqual({
      found: new Map([
        [
          'old@b.co',
          [
            {
              recordId: '2',
              createdAt,
              keys: ['main@b.co', 'x@b.co', 'old@b.co'],
              fields: { firstname: null },
            },
          ],
        ],
        ['A@b.co', [{ recordId: '1', createdAt, keys: ['a@b.co'], fields: { firstname: 'Ada' } }]],
      ]),
    });
  });

  test.each([
    ['a limit', answer({ policyName: 'SECONDLY' }, 429), { category: 'rateLimit', retryable: true }],
    ['half an answer', { status: 200, headers: {}, body: '{"results":[' }, { category: 'providerDown' }],
    [
      'an entry that was not read',
      answer({ results: [], errors: [{ category: 'INTERNAL_ERROR' }] }, 207),
      { category: 'providerDown' },
    ],
    ['a record without its properties', answer({ results: [{ ...contact('1', {}), properties: [] }] }), {}],
    ['a record without its time', answer({ results: [{ id: '1', properties: {} }] }), {}],
  ])('%s is no "not there"', (_what, given, failure) => {
    expect(resolve.judge('email', ['a@b.co'], [], given)).toMatchObject({ failure });
  });
  test('a record that has none of the values leaves open which of them stands there', () => {
    const read = resolve.judge(
      'email',
      ['a@b.co'],
      [],
      answer({ results: [contact('1', { email: 'b@b.co' })] }),
    );
    expect(read).toMatchObject({ untold: { category: 'providerDown' } });
  });
});
