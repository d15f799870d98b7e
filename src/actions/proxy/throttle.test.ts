import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { quotaHeaders, readableStart, retryTime, throttleHeaders } from './throttle.ts';

const moment = Date.UTC(2026, 10, 20, 14, 0, 0);

describe('actions/proxy/throttle', () => {
  test('§7.5 says the time in words, never an earlier one, and whether to try again', () => {
    expect(retryTime(moment)).toBe('Fri, 20 Nov 2026 14:00:00 UTC');
    expect(retryTime(moment - 1)).toBe('Fri, 20 Nov 2026 14:00:00 UTC');
    expect(throttleHeaders({ until: moment, lockedOut: true })).toEqual([
      'X-Svc-Retry-After',
      'Fri, 20 Nov 2026 14:00:00 UTC',
      'X-Svc-Retryable',
      'false',
    ]);
    expect(throttleHeaders({ until: moment, lockedOut: false })[3]).toBe('true');
  });

  test('says of a quota what is known', () => {
    expect(quotaHeaders({}, moment)).toEqual([]);
    expect(quotaHeaders({ limit: 100, remaining: 0, resetAt: moment + 1_500 }, moment)).toEqual([
      'X-Svc-RateLimit-Limit',
      '100',
      'X-Svc-RateLimit-Remaining',
      '0',
      'X-Svc-RateLimit-Reset',
      '2',
    ]);
  });

  test('reads the beginning of a body, however it is packed', () => {
    const text = '[{"errorCode":"REQUEST_LIMIT_EXCEEDED"}]';
    expect(readableStart(Buffer.from(text), undefined)).toBe(text);
    expect(readableStart(gzipSync(text), 'GZIP')).toBe(text);
    expect(readableStart(deflateSync(text), 'deflate')).toBe(text);
    expect(readableStart(brotliCompressSync(text), 'br')).toBe(text);
  });

  test('what is cut off, broken or a bomb is no reason to fail', () => {
    const long = Buffer.from(Array.from({ length: 40_000 }, (_, i) => `${i},`).join(''));
    const packed = gzipSync(long);
    expect(readableStart(packed.subarray(0, packed.length / 2), 'gzip')).toMatch(/^0,1,2,/);
    expect(readableStart(Buffer.from('not gzip'), 'gzip')).toBe('');
    expect(readableStart(gzipSync(Buffer.alloc(50_000_000)), 'gzip')).toBe('');
    expect(readableStart(Buffer.alloc(200_000, 'x'), undefined)).toHaveLength(65_536);
  });
});
