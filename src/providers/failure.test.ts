import { describe, expect, it } from 'vitest';
import { failureOfRead, failureOfTransport, retryAfterMs, withoutSecrets } from './failure.ts';

describe('src/providers/failure', () => {
  it('knows that nothing was done as long as no byte was sent', () => {
    expect(failureOfTransport({ kind: 'connect', sent: false, message: 'm' })).toMatchObject({
      applied: 'no',
      failure: { category: 'providerDown', retryable: true },
    });
    expect(failureOfTransport({ kind: 'refused', sent: false, message: 'm' })).toMatchObject({
      applied: 'no',
      failure: { category: 'permission', retryable: false },
    });
  });

  it('does not know what became of a request whose answer was lost, and lets only what is repeatable be repeated', () => {
    const fault = { kind: 'timeout', sent: true, message: 'm' } as const;
    expect(failureOfTransport(fault)).toMatchObject({
      applied: 'unknown',
      failure: { category: 'unknownOutcome', retryable: false },
    });
    expect(failureOfTransport(fault, true)).toMatchObject({
      applied: 'unknown',
      failure: { category: 'unknownOutcome', retryable: true },
    });
    expect(failureOfRead(fault)).toMatchObject({ category: 'providerDown', retryable: true });
  });

  it.each([
    ['7', 7_000],
    [' 0 ', 0],
    ['1.5', 1_500],
    ['999999999', 86_400_000],
    ['Thu, 01 Jan 2026 00:01:00 GMT', 60_000],
    ['Thu, 01 Jan 2026 00:00:00 GMT', 0],
    ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
    ['Wed, 21 Oct 2099 07:28:00 GMT', 86_400_000],
    ['Thu Jan  1 00:01:00 2026', 60_000],
    ['Thu, 01 Jan 2026 00:01:00 +0000', 60_000],
    ['-5', undefined],
    ['1-2', undefined],
    ['soon', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('reads Retry-After, seconds or a date, a day at the most: %s is %s ms', (header, ms) => {
    expect(retryAfterMs(header, Date.parse('2026-01-01T00:00:00Z'))).toBe(ms);
  });

  it.each([
    'Bearer eyJhbGciOiJSUzI1NiJ9.abc.def was refused',
    'access_token=CJSP5qf1KhICAQEYs-gDIIGOBg is over',
    '{"client_secret":"0123456789abcdef"}',
    'token pat-eu1-11112222-3333-4444',
    'session 00D5g000000abcd!AQcAQHxyz.abc',
  ])('removes the secret of %j', (text) => {
    const shown = withoutSecrets(text);
    expect(shown).toContain('[removed]');
    expect(shown).not.toMatch(/eyJ|CJSP|0123456789|11112222|AQcAQH/);
  });

  it('leaves ordinary words alone, and cuts what is very long', () => {
    const text =
      'Property "token_count" does not exist; the password field is required. Basic information is missing';
    expect(withoutSecrets(text)).toBe(text);
    expect(withoutSecrets('x'.repeat(5_000))).toHaveLength(1_000);
  });

  it('cuts before a character that would be halved, and shows no half that a provider sent', () => {
    const before = 'x'.repeat(998);
    expect(withoutSecrets(`${before}😀 and more`)).toBe(`${before}…`);
    expect(withoutSecrets(`x${before.slice(2)}😀 and more`)).toBe(`x${before.slice(2)}😀…`);
    expect(withoutSecrets('half \ud83d of it')).toBe('half \ufffd of it');
    expect(withoutSecrets('a\0b')).toBe('a\ufffdb');
  });
});
