import { describe, expect, it } from 'vitest';
import { newId } from '../../kit/ids.ts';
import { mostBodyCharacters, presentExchange, rowOf, type Exchange } from './exchange.ts';

const exchange = (given: Partial<Exchange> = {}): Exchange => ({
  projectId: newId(),
  operationId: newId(),
  groupRef: 'acme',
  attempt: 2,
  withGoodAnswers: true,
  id: newId(),
  request: { method: 'POST', path: '/crm/v3/objects/contacts', body: { a: 1 } },
  result: { answer: { status: 200, headers: {}, body: '{}' } },
  totalMs: 12.4,
  ...given,
});
const answering = (body: string, headers: Record<string, string> = {}) =>
  rowOf(exchange({ result: { answer: { status: 200, headers, body } } }));

describe('operations/exchanges', () => {
  it('keeps the beginning of a long body, and says how long all of it is', () => {
    const long = 'é'.repeat(20_000);
    const row = rowOf(exchange({ request: { method: 'POST', path: '/', body: long } }));
    expect(row.request_body).toHaveLength(mostBodyCharacters);
    expect(row.request_bytes).toBe(40_002);
    expect(answering(long)).toMatchObject({ answer_bytes: 40_000 });
    expect(answering(long).answer_body).toHaveLength(mostBodyCharacters);
  });

  it.each([
    ['{"access_token":"s3cret","x":1}', '{"access_token":"[removed]","x":1}'],
    ['{"refreshToken" : "s3\\"cret"}', '{"refreshToken" : "[removed]"}'],
    ['{"clientSecret":"s3cret"}', '{"clientSecret":"[removed]"}'],
    ['got Authorization: Bearer s3c.ret_1-2', 'got Authorization: Bearer [removed]'],
    ['{"Authorization":"Basic czNjcmV0Og=="}', '{"Authorization":"Basic [removed]"}'],
    ['{"token_type":"bearer","note":"secret"}', '{"token_type":"bearer","note":"secret"}'],
  ])('removes what a provider echoes of a credential: %s', (body, kept) => {
    expect(answering(body).answer_body).toBe(kept);
  });

  it('keeps of the headers of an answer those that explain it', () => {
    const row = answering('', {
      'content-type': 'text/plain',
      'x-request-id': 'r1',
      'x-hubspot-ratelimit-daily-remaining': '9',
      'set-cookie': 'session=s3cret',
      'x-anything': 's3cret',
    });
    expect(JSON.parse(row.answer_headers ?? '')).toEqual({
      'content-type': 'text/plain',
      'x-request-id': 'r1',
      'x-hubspot-ratelimit-daily-remaining': '9',
    });
  });

  it('keeps of a read the bodies of refusals alone', () => {
    const of = (status: number) =>
      exchange({ withGoodAnswers: false, result: { answer: { status, headers: {}, body: 'b' } } });
    expect(rowOf(of(200))).toMatchObject({ answer_body: null, answer_bytes: 1 });
    expect(rowOf(of(400))).toMatchObject({ answer_body: 'b' });
  });

  it('stores a NUL as something that PostgreSQL takes', () => {
    expect(answering('a\0b').answer_body).toBe('a\uFFFDb');
  });

  it('tells why there was no answer', () => {
    const fault = { kind: 'timeout', sent: true, message: 'no complete answer within 10 ms' } as const;
    const shown = presentExchange(rowOf(exchange({ result: { fault } })));
    expect(shown).toMatchObject({
      attempt: 2,
      request: { method: 'POST', body: '{"a":1}', bytes: 7 },
      fault: 'timeout: no complete answer within 10 ms',
      totalMs: 12,
    });
    expect(shown).not.toHaveProperty('answer');
  });
});
