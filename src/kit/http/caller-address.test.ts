import { describe, expect, it } from 'vitest';
import { callerAddress, parseTrustedProxies } from './caller-address.ts';

describe('src/kit/http/caller-address', () => {
  const none = parseTrustedProxies([]);
  const inside = parseTrustedProxies(['loopback', '10.0.0.0/8', '192.0.2.7', '2001:db8::/32']);

  it.each<[string, string | undefined, string]>([
    ['203.0.113.5', undefined, '203.0.113.5'],
    ['203.0.113.5', '198.51.100.1', '203.0.113.5'],
    ['10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['10.1.2.3', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['10.1.2.3', '198.51.100.1, 192.0.2.7', '198.51.100.1'],
    ['::ffff:127.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['2001:db8::1', '2001:db8::2, 10.0.0.9', '2001:db8::2'],
    ['10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
    ['10.1.2.3', '198.51.100.1:4711, 192.0.2.7:80', '198.51.100.1'],
    ['10.1.2.3', '[2001:470::7]:4711', '2001:470::7'],
    ['10.1.2.3', '[2001:470::7]', '2001:470::7'],
    ['10.1.2.3', '2001:470::7', '2001:470::7'],
    ['10.1.2.3', 'unknown1', '10.1.2.3'],
    ['10.1.2.3', '12345', '10.1.2.3'],
    ['10.1.2.3', '198.51.100.1:x', '10.1.2.3'],
    ['10.1.2.3', '198.51.100.1, _hidden, 192.0.2.7', '192.0.2.7'],
    ['10.1.2.3', '10.0.0.8, 10.0.0.9', '10.0.0.8'],
    ['10.1.2.3', '', '10.1.2.3'],
  ])('of %s with %s it is %s', (remoteAddress, forwarded, expected) => {
    expect(callerAddress({ remoteAddress }, forwarded, inside)).toBe(expected);
  });

  it('is the address of the socket when no proxy is trusted', () => {
    expect(callerAddress({ remoteAddress: '10.1.2.3' }, '198.51.100.1', none)).toBe('10.1.2.3');
  });

  it('refuses what is no address', () => {
    expect(() => parseTrustedProxies(['proxy.example'])).toThrow('proxy.example');
  });
});
