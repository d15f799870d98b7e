import { expect, test } from 'vitest';
import { problem } from './problem.ts';

test('a fault of ours tells where it was made; a refusal costs no look at the calls', () => {
  expect(problem('internal').stack).toContain('problem.test.ts');
  expect(problem('unauthenticated').stack).not.toContain('\n');
  expect(new Error('of others, afterwards').stack).toContain('problem.test.ts');
});
