import { describe, expect, it } from 'vitest';
import { cleaned, markedUrl, ownIn, returnedIn } from '../src/state/refusal.ts';

const page = 'https://app.example.com/settings?error=ours&tab=2&connectionId=mine#top';
const who = { whose: 'acme', provider: 'hubspot' };

/** As svc leads back. */
function back(told: Record<string, string>): string {
  const url = new URL(markedUrl(page, 'm'));
  for (const [name, value] of Object.entries(told)) url.searchParams.set(name, value);
  return url.toString();
}

describe('ui/embed/refusal', () => {
  it.each([
    ['connected', { connectionId: 'theirs' }],
    ['denied', { error: 'No.', errorReason: 'denied' }],
    ['otherAccount', { error: 'No.', errorReason: 'otherAccount' }],
    ['unsure', { error: 'No.', errorReason: 'unsure' }],
    ['failed', { error: 'No.', errorReason: 'takenBack' }],
  ] as const)('tells %s, and puts back what the page had under the same names', (how, told) => {
    const left = { ...who, mark: 'm', own: ownIn(page) };
    expect(returnedIn(back(told), left, who)).toBe(how);
    const { searchParams, hash } = new URL(cleaned(back(told), left.own));
    expect(Object.fromEntries(searchParams)).toEqual({ tab: '2', error: 'ours', connectionId: 'mine' });
    expect(hash).toBe('#top');
  });
});
