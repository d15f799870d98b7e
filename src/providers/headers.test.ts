import { describe, expect, it } from 'vitest';
import { isForwardable, isHeaderValue } from './headers.ts';

describe('src/providers/headers', () => {
  it.each([
    'Sforce-Auto-Assign',
    'Sforce-Duplicate-Rule-Header',
    'sforce-call-options',
    'x-sfdc-packageversion-ns',
    'If-Match',
    'If-Unmodified-Since',
  ])('forwards %s', (name) => expect(isForwardable(name)).toBe(true));

  it.each([
    'Authorization',
    'HOST',
    'content-length',
    'Content-Type',
    'Content-Encoding',
    'Transfer-Encoding',
    'Connection',
    'Keep-Alive',
    'Cookie',
    'TE',
    'Trailer',
    'Upgrade',
    'Proxy-Authorization',
    'Proxy-Connection',
    'Accept',
    'Accept-Encoding',
    'Expect',
    'x-svc-project-id',
    'X-API-Key',
    'X-Forwarded-Host',
    'Forwarded',
    'X-HTTP-Method-Override',
    '',
    ' host',
    'host ',
    'host:',
    'a b',
    'a\r\nb',
    ':authority',
    'é',
  ])('does not forward %j', (name) => expect(isForwardable(name)).toBe(false));

  it('takes a value without control characters for a header value', () => {
    expect(['allowSave=true; x', '', 'café', 'a\tb'].map(isHeaderValue)).toEqual([true, true, true, true]);
    expect(['a\r\nb', 'a\nb', 'a\0b', '\u007f', '名'].map(isHeaderValue)).toEqual(Array(5).fill(false));
  });
});
