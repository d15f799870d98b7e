import { describe, expect, it } from 'vitest';
import { problem, type Problem } from '../problem.ts';
import { tellFault } from './problem-answer.ts';

describe('src/kit/http/problem-answer', () => {
  const toldOf = (answer: Problem): string[] => {
    const said: string[] = [];
    tellFault({ error: (_about: unknown, line?: string) => void said.push(line ?? '') }, answer, {});
    return said;
  };

  it('tells as an error what is a fault of ours, and not what a provider or the database does', () => {
    expect(toldOf(problem('internal', { cause: new Error('a bug') }))).toHaveLength(1);
    expect(toldOf(problem('overloaded'))).toHaveLength(1);
    // 502: what was called.
    expect(toldOf(problem('egress-refused'))).toEqual([]);
    expect(toldOf(problem('proxy-upgrade-refused'))).toEqual([]);
    expect(toldOf(problem('database-unavailable'))).toEqual([]);
    expect(toldOf(problem('not-found'))).toEqual([]);
  });
});
