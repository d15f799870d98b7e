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

  it('reads Retry-After as seconds or as a date', () => {
    const now = Date.parse('2026-11-20T12:00:00Z');
    expect(
      ['7', ' 7 ', 'Fri, 20 Nov 2026 12:00:30 GMT', 'Fri, 20 Nov 2026 11:00:00 GMT', 'soon', undefined].map(
        (text) => retryAfterMs(text, now),
      ),
    ).toEqual([7_000, 7_000, 30_000, 0, undefined, undefined]);
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
});
