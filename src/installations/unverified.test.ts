import { describe, expect, it } from 'vitest';
import type { Failure } from '../providers/index.ts';
import { unanswered, warningsOf } from './unverified.ts';

const failure = (category: Failure['category'], status: number): Failure => ({
  category,
  retryable: false,
  message: `HubSpot answered ${status}`,
  provider: { status },
});

describe('installations/unverified', () => {
  it('tells each answer once, with the objects that it was about and what helps', () => {
    const messages = warningsOf([
      { objectName: 'contacts', failure: failure('permission', 403) },
      { objectName: 'deals', failure: failure('permission', 403) },
      { objectName: 'deals', failure: failure('permission', 403) },
      { objectName: 'tickets', failure: failure('providerDown', 503) },
    ]).map(({ message }) => message);
    expect(messages).toEqual([
      expect.stringMatching(/show contacts, deals: HubSpot answered 403\. .*connect again with the scopes/),
      expect.stringMatching(/show tickets: HubSpot answered 503\. .*Save the config again later\.$/),
    ]);
  });

  it('says that there was no answer only where there was none', () => {
    const silence: Failure = { category: 'providerDown', retryable: true, message: 'reset' };
    for (const one of [undefined, silence])
      expect(warningsOf([{ objectName: 'contacts', failure: one }])).toEqual([unanswered]);
    expect(warningsOf([])).toEqual([]);
  });
});
