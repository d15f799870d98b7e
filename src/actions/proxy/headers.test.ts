import { describe, expect, test } from 'vitest';
import {
  asRecord,
  isChunkedOnly,
  keyOf,
  framedByChunks,
  rawPairs,
  readAnswerHead,
  requestHeaders,
} from './headers.ts';

const responseHeaders = (raw: string[]): string[] => readAnswerHead(raw).headers;

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
    for (const name of ['x-token', 'X-Token', 'X-TOKEN'])
      expect(requestHeaders([name, 'mine', 'A', '1'], { 'x-token': 'theirs' })).toEqual([
        'A',
        '1',
        'x-token',
        'theirs',
      ]);
  });

  test('knows any name in any case, however many were seen before', () => {
    for (let n = 0; n < 5_000; n += 1) expect(keyOf(`X-Name-${n}`)).toBe(`x-name-${n}`);
    expect([keyOf('X-Name-1'), keyOf('CONNECTION'), keyOf('X-Unseen')]).toEqual([
      'x-name-1',
      'connection',
      'x-unseen',
    ]);
  });

  test('removes Set-Cookie from an answer and keeps repeated headers', () => {
    expect(responseHeaders(['Set-Cookie', 'a', 'Via', 'x', 'Via', 'y'])).toEqual(['Via', 'x', 'Via', 'y']);
  });

  test('a call by node:http keeps what undici cannot send, unless Connection names it', () => {
    const raw = [
      'Expect',
      '100-continue',
      'Trailer',
      'X-Sum',
      'Transfer-Encoding',
      'chunked',
      'TE',
      'trailers',
    ];
    expect(requestHeaders(raw, {}, framedByChunks)).toEqual(raw.slice(0, 6));
    expect(requestHeaders(['Connection', 'trailer', ...raw], {}, framedByChunks)).not.toContain('Trailer');
  });

  test('reads the framing and the quota of an answer on the way', () => {
    const names = new Map([['x-left', 'remaining'] as const]);
    const raw = ['X-Left', '7', 'Transfer-Encoding', 'chunked', 'Trailer', 'X-Sum', 'A', '1'];
    expect(readAnswerHead(raw, names)).toEqual({
      headers: ['X-Left', '7', 'A', '1'],
      hasLength: false,
      trailer: 'X-Sum',
      coding: 'chunked',
      quota: { remaining: 7 },
    });
    expect(readAnswerHead(['Content-Length', '3'])).toMatchObject({ hasLength: true, quota: undefined });
    expect(isChunkedOnly('Chunked')).toBe(true);
    expect(isChunkedOnly('gzip, chunked')).toBe(false);
    expect(asRecord(['A', '1', 'a', '2', 'B', '3'])).toEqual({ a: '1, 2', b: '3' });
  });

  test('reads raw headers as bytes', () => {
    expect(rawPairs([Buffer.from([0x41]), Buffer.from([0xe9])])).toEqual(['A', 'é']);
  });
});
