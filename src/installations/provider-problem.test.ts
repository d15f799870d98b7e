import { describe, expect, it } from 'vitest';
import { failureOfRead } from '../providers/index.ts';
import { problemOfFailure } from './provider-problem.ts';

describe('src/installations/provider-problem', () => {
  it('says that an address was refused here, and not that the provider refused', () => {
    const failure = failureOfRead({
      kind: 'refused',
      sent: false,
      message: '10.0.0.1 is not a public address',
    });
    expect(problemOfFailure(failure, { what: 'The search failed' })).toMatchObject({
      code: 'egress-refused',
      status: 502,
      message: expect.stringContaining('10.0.0.1 is not a public address'),
    });
    expect(
      problemOfFailure({ category: 'permission', retryable: false, message: 'no' }, { what: 'It failed' })
        .code,
    ).toBe('provider-refused');
  });
});
