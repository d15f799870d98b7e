import { describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../../kit/http/client.ts';
import { failureOf, failureOfEntry } from './failure.ts';

function answer(status: number, body: unknown, headers: HttpAnswer['headers'] = {}): HttpAnswer {
  return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

const wrapped =
  'Property values were not valid: [{"isValid":false,"message":"Property \\"nope\\" does not exist","error":"PROPERTY_DOESNT_EXIST","name":"nope"}]';

describe('src/providers/hubspot/failure', () => {
  it.each([
    [
      'bad values',
      400,
      { category: 'VALIDATION_ERROR', message: 'bad' },
      { category: 'validation', retryable: false },
    ],
    ['a 400 without a body', 400, '', { category: 'validation', retryable: false }],
    [
      'an unknown type (400)',
      400,
      { message: 'Unable to infer object type from: xyz' },
      { category: 'notFound', retryable: false },
    ],
    [
      'an unknown type (404)',
      404,
      { message: 'Unable to infer object type from: xyz' },
      { category: 'notFound', retryable: false },
    ],
    ['an expired token', 401, { category: 'EXPIRED_AUTHENTICATION' }, { category: 'auth', retryable: false }],
    ['a missing scope', 403, { category: 'MISSING_SCOPES' }, { category: 'permission', retryable: false }],
    ['a missing record', 404, { message: 'resource not found' }, { category: 'notFound', retryable: false }],
    [
      'a duplicate',
      409,
      { category: 'CONFLICT', message: 'Contact already exists. Existing ID: 512' },
      { category: 'conflict', retryable: false },
    ],
    ['a lock', 423, {}, { category: 'conflict', retryable: true, retryAfterMs: 2_000 }],
    [
      'a burst',
      429,
      { policyName: 'TEN_SECONDLY_ROLLING' },
      { category: 'rateLimit', retryable: true, retryAfterMs: 10_000 },
    ],
    [
      'the day’s limit',
      429,
      { policyName: 'DAILY' },
      { category: 'rateLimit', retryable: true, retryAfterMs: 3_600_000 },
    ],
    [
      'search, old form',
      429,
      { message: 'You have reached your secondly limit.', category: 'RATE_LIMITS' },
      { category: 'rateLimit', retryAfterMs: 1_000 },
    ],
    ['a limit in HTML', 429, '<html>', { category: 'rateLimit', retryable: true }],
    ['a server fault', 500, '<html>', { category: 'providerDown', retryable: true }],
    ['a gateway', 504, '', { category: 'providerDown', retryable: true }],
    ['a redirect', 302, '', { category: 'providerDown', retryable: false }],
    ['half a success', 201, '{"id":"5', { category: 'providerDown', retryable: true }],
  ])('judges %s', (_name, status, body, expected) => {
    expect(failureOf(answer(status, body))).toMatchObject({ ...expected, provider: { status } });
  });

  it('follows Retry-After of an account that is being moved (477)', () => {
    expect(failureOf(answer(477, {}, { 'retry-after': '1200' }))).toMatchObject({
      category: 'providerDown',
      retryable: true,
      retryAfterMs: 1_200_000,
    });
  });

  it('says what was wrong in words rather than in JSON within a text', () => {
    const body = {
      message: wrapped,
      errors: [{ message: 'Property "nope" does not exist', code: 'PROPERTY_DOESNT_EXIST' }],
      category: 'VALIDATION_ERROR',
    };
    expect(failureOf(answer(400, body))).toMatchObject({
      message: 'HubSpot answered 400: Property "nope" does not exist',
      provider: { status: 400, code: 'PROPERTY_DOESNT_EXIST', message: 'Property "nope" does not exist' },
    });
  });

  it('reads the older form of a body, and one without details', () => {
    const older = {
      message: wrapped,
      validationResults: [
        { name: 'nope', message: 'Property "nope" does not exist', error: 'PROPERTY_DOESNT_EXIST' },
      ],
    };
    expect(failureOf(answer(400, older)).provider).toEqual({
      status: 400,
      code: 'PROPERTY_DOESNT_EXIST',
      message: 'Property "nope" does not exist',
    });
    expect(failureOf(answer(409, { message: 'Contact already exists. Existing ID: 512' })).provider).toEqual({
      status: 409,
      message: 'Contact already exists. Existing ID: 512',
    });
  });

  it('calls a value that another record has a conflict, and names that record', () => {
    const detail = {
      message: 'Cannot set PropertyValueCoordinates{propertyName=sku, value=7}. 789 already has that value.',
      code: 'CONFLICTING_UNIQUE_VALUE',
    };
    const body = { category: 'VALIDATION_ERROR', message: 'Property values were not valid: [{}]' };
    const clash = { category: 'conflict', retryable: false, existingRecordId: '789' };
    expect(failureOf(answer(400, { ...body, errors: [detail] }))).toMatchObject(clash);
    expect(
      failureOf(
        answer(400, { ...body, validationResults: [{ ...detail, code: undefined, error: detail.code }] }),
      ),
    ).toMatchObject(clash);
    expect(failureOfEntry({ ...body, errors: [detail] }, 207)).toMatchObject(clash);
    const other = { message: 'not an integer', code: 'INVALID_INTEGER' };
    const both = failureOf(answer(400, { ...body, errors: [detail, other] }));
    expect(both).toMatchObject({ category: 'validation' });
    expect(both.existingRecordId).toBeUndefined();
  });

  it('names the contact that exists, from the words of an answer or the context of an entry', () => {
    const conflict = { category: 'CONFLICT', message: 'Contact already exists. Existing ID: 512' };
    expect(failureOf(answer(409, conflict)).existingRecordId).toBe('512');
    expect(failureOfEntry(conflict, 207).existingRecordId).toBe('512');
    const entry = {
      category: 'CONFLICT',
      message: 'Contact already exists.',
      context: { existingId: ['77'] },
    };
    expect(failureOfEntry(entry, 207).existingRecordId).toBe('77');
    expect(failureOf(answer(404, { message: 'Existing ID: 512' })).existingRecordId).toBeUndefined();
  });

  it('tries a record of a batch again that is locked, as a whole call that is', () => {
    const entry = { status: 'error', category: 'OBJECT_LOCKED', message: 'The record is locked.' };
    expect(failureOfEntry(entry, 207)).toMatchObject({
      category: 'conflict',
      retryable: true,
      retryAfterMs: 2_000,
    });
  });

  it('takes tokens out of the provider’s words', () => {
    const { message, provider } = failureOf(
      answer(401, { message: 'The token pat-na1-0123abcd-4567 (Bearer abcdefghijklmnop123) is not known' }),
    );
    expect(message + provider?.message).not.toMatch(/0123abcd|abcdefghij/);
  });

  it('says of a redirect where it leads, without the secrets of the address', () => {
    const found = failureOf(answer(302, '', { location: 'https://login.example.com/a?token=secret' }));
    expect(found).toMatchObject({ category: 'providerDown', retryable: false, provider: { status: 302 } });
    expect(found.message).toMatch(
      /^HubSpot answered 302, a redirect to https:\/\/login\.example\.com, which is not/,
    );
    expect(found.message).not.toContain('secret');
    expect(failureOf(answer(307, '', { location: '/maintenance' })).message).toContain(
      'a redirect elsewhere',
    );
  });
});
