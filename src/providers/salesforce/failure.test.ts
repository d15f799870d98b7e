import { describe, expect, it } from 'vitest';
import type { HttpAnswer } from '../../kit/http/client.ts';
import { failureOf, failureOfItem } from './failure.ts';

function answer(status: number, body: unknown, headers: HttpAnswer['headers'] = {}): HttpAnswer {
  return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

const error = (errorCode: string, message = 'words'): object[] => [{ errorCode, message }];

describe('src/providers/salesforce/failure', () => {
  it.each([
    ['INVALID_SESSION_ID', 401, { category: 'auth', retryable: false }],
    ['INSUFFICIENT_ACCESS_OR_READONLY', 400, { category: 'permission', retryable: false }],
    ['API_DISABLED_FOR_ORG', 403, { category: 'permission', retryable: false }],
    ['NOT_FOUND', 404, { category: 'notFound', retryable: false }],
    ['ENTITY_IS_DELETED', 404, { category: 'notFound', retryable: false }],
    ['INVALID_TYPE', 400, { category: 'notFound', retryable: false }],
    ['DUPLICATES_DETECTED', 400, { category: 'conflict', retryable: false }],
    ['DUPLICATE_VALUE', 400, { category: 'conflict', retryable: false }],
    ['UNABLE_TO_LOCK_ROW', 400, { category: 'conflict', retryable: true }],
    ['FIELD_CUSTOM_VALIDATION_EXCEPTION', 400, { category: 'validation', retryable: false, byAccount: true }],
    ['CANNOT_EXECUTE_FLOW_TRIGGER', 400, { category: 'validation', retryable: false, byAccount: true }],
    ['INVALID_FIELD', 400, { category: 'validation', retryable: false }],
    ['SOME_NEW_CODE', 400, { category: 'validation', retryable: false }],
    ['constructor', 400, { category: 'validation', retryable: false }],
    ['QUERY_TIMEOUT', 400, { category: 'providerDown', retryable: true }],
    ['SERVER_UNAVAILABLE', 503, { category: 'providerDown', retryable: true }],
    ['UNKNOWN_EXCEPTION', 500, { category: 'providerDown', retryable: true }],
    ['REQUEST_LIMIT_EXCEEDED', 403, { category: 'rateLimit', retryable: true, retryAfterMs: 900_000 }],
  ])('judges %s (%i)', (code, status, expected) => {
    expect(failureOf(answer(status, error(code)))).toMatchObject({
      ...expected,
      provider: { status, code, message: 'words' },
    });
  });

  it('tells the limit of calls at a time from that of a day by its text', () => {
    const body = error(
      'REQUEST_LIMIT_EXCEEDED',
      'ConcurrentRequests (Concurrent API Requests) Limit exceeded.',
    );
    expect(failureOf(answer(403, body))).toMatchObject({
      category: 'rateLimit',
      retryable: true,
      retryAfterMs: 5_000,
    });
  });

  it('judges by the status alone what has no body', () => {
    const categories = [400, 401, 403, 404, 429, 500, 502].map(
      (status) => failureOf(answer(status, '<html>')).category,
    );
    expect(categories).toEqual([
      'validation',
      'auth',
      'permission',
      'notFound',
      'rateLimit',
      'providerDown',
      'providerDown',
    ]);
  });

  it('names the records that a duplicate rule found, by either spelling of the member', () => {
    for (const name of ['duplicateResut', 'duplicateResult']) {
      const body = [
        {
          ...error('DUPLICATES_DETECTED', 'Use one of these')[0],
          [name]: { matchResults: [{ matchRecords: [{ record: { Id: '003A' } }] }] },
        },
      ];
      expect(failureOf(answer(400, body)).provider?.message).toBe('Use one of these (existing: 003A)');
    }
  });

  it('names the record that exists by its 18 characters, from the words or from the matches of a rule', () => {
    const text = 'duplicate value found: Ref__c duplicates value on record with id: 0015g00000DklQA';
    const taken = error('DUPLICATE_VALUE', text);
    expect(failureOf(answer(400, taken)).existingRecordId).toBe('0015g00000DklQAAAZ');
    const item = { success: false, errors: [{ statusCode: 'DUPLICATE_VALUE', message: text, fields: [] }] };
    expect(failureOfItem(item, 200, 'create').existingRecordId).toBe('0015g00000DklQAAAZ');
    const matched = {
      ...error('DUPLICATES_DETECTED', 'Use one of these')[0],
      duplicateResut: {
        matchResults: [{ matchRecords: [{ record: { Id: '0015g00000DklQAAAZ' } }] }],
      },
    };
    expect(failureOf(answer(400, [matched])).existingRecordId).toBe('0015g00000DklQAAAZ');
    expect(failureOf(answer(400, error('INVALID_FIELD', text))).existingRecordId).toBeUndefined();
  });

  it('takes a session id out of the provider’s words', () => {
    const { message } = failureOf(answer(400, error('X', 'session 00D5g000000abcd!AQcAQ.abc_def is over')));
    expect(message).toBe('Salesforce answered 400: X: session [removed] is over');
  });

  it('reads statusCode inside a collection, where a bad reference without fields is the record’s own id', () => {
    const item = (statusCode: string, fields: string[]): Record<string, unknown> => ({
      success: false,
      errors: [{ statusCode, message: 'm', fields }],
    });
    expect(failureOfItem(item('REQUIRED_FIELD_MISSING', ['LastName']), 200, 'create')).toMatchObject({
      category: 'validation',
      provider: { code: 'REQUIRED_FIELD_MISSING' },
    });
    expect(failureOfItem(item('INVALID_CROSS_REFERENCE_KEY', []), 200, 'update').category).toBe('notFound');
    expect(failureOfItem(item('INVALID_CROSS_REFERENCE_KEY', ['AccountId']), 200, 'update').category).toBe(
      'validation',
    );
    expect(failureOfItem(item('INVALID_CROSS_REFERENCE_KEY', []), 200, 'create').category).toBe('validation');
  });

  it('says of a redirect where it leads, without the secrets of the address', () => {
    const found = failureOf(answer(302, '', { location: 'https://login.example.com/a?token=secret' }));
    expect(found).toMatchObject({ category: 'providerDown', retryable: false, provider: { status: 302 } });
    expect(found.message).toMatch(
      /^Salesforce answered 302, a redirect to https:\/\/login\.example\.com, which is not/,
    );
    expect(found.message).not.toContain('secret');
    expect(failureOf(answer(307, '', { location: '/maintenance' })).message).toContain(
      'a redirect elsewhere',
    );
  });
});
