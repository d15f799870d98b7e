import { describe, expect, test } from 'vitest';
import { rawPairs, requestHeaders, responseHeaders } from './headers.ts';

describe('actions/proxy/headers', () => {
  test('keeps the caller’s headers in order and case, and adds the credential last', () => {
    const raw = ['Accept', 'a', 'X-Custom', '1', 'accept', 'b', 'Content-Type', 'text/plain'];
    expect(requestHeaders(raw, { Authorization: 'Bearer new' })).toEqual([
      ...raw,
      'Authorization',
      'Bearer new',
    ]);
  });

  test.each([
    'Host',
    'X-Api-Key',
    'Authorization',
    'Cookie',
    'Forwarded',
    'X-Forwarded-For',
    'X-Svc-Project-Id',
    'x-svc-anything',
    'Connection',
    'Keep-Alive',
    'Proxy-Authorization',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
  ])('removes %s from a request', (name) => {
    expect(requestHeaders([name, 'v', 'Kept', '1'], {})).toEqual(['Kept', '1']);
  });

  test('removes the headers that Connection names, in both directions, but never the length of the body', () => {
    const raw = [
      'Connection',
      'close, X-Hop, content-length',
      'X-Hop',
      '1',
      'Content-Length',
      '2',
      'Kept',
      '3',
    ];
    expect(requestHeaders(raw, {})).toEqual(['Content-Length', '2', 'Kept', '3']);
    expect(responseHeaders(raw)).toEqual(['Content-Length', '2', 'Kept', '3']);
  });

  test('a credential header replaces the one that the caller sent', () => {
    expect(requestHeaders(['x-token', 'mine', 'A', '1'], { 'X-Token': 'theirs' })).toEqual([
      'A',
      '1',
      'X-Token',
      'theirs',
    ]);
  });

  test('removes Set-Cookie from an answer and keeps repeated headers', () => {
    expect(responseHeaders(['Set-Cookie', 'a', 'Via', 'x', 'Via', 'y'])).toEqual(['Via', 'x', 'Via', 'y']);
  });

  test('reads raw headers as bytes', () => {
    expect(rawPairs([Buffer.from([0x41]), Buffer.from([0xe9])])).toEqual(['A', 'é']);
  });
});
