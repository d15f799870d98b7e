import { describe, expect, it } from 'vitest';
import { faultsOf, render } from './coverage.ts';

const paragraphs = [
  { id: '1.1', title: 'Things', says: 'Two values.', members: 'value other.value' },
  { id: '1.2', title: 'Nothing', says: 'No test.', later: 'All of it.' },
];

describe('scripts/spec-coverage/coverage', () => {
  it('finds a paragraph and a member that no test names, and a test of no paragraph', () => {
    const tests = [
      { path: 'a.test.ts', title: 'a > §1.1 selectedValues are taken; other.value: is refused' },
      { path: 'a.test.ts', title: 'a > §1.3 more' },
    ];
    expect(faultsOf(paragraphs, tests)).toEqual([
      'a.test.ts > a > §1.3 more: there is no §1.3',
      '§1.2: no test carries it in its title',
    ]);
    const [, ...others] = tests;
    expect(faultsOf(paragraphs, [...others, { path: 'a.test.ts', title: '§1.1 selectedValues' }])).toContain(
      '§1.1: no test of it names value',
    );
  });

  it('does not take §1.11 for §1.1', () => {
    expect(faultsOf(paragraphs.slice(0, 1), [{ path: 'a.test.ts', title: '§1.11 value' }])).toContain(
      '§1.1: no test carries it in its title',
    );
  });

  it('lists the files whose tests hold a paragraph', () => {
    const shown = render(paragraphs, [
      { path: 'test/x.test.ts', title: 'test/x > §1.1 takes <a>' },
      { path: 'test/x.test.ts', title: 'test/x > §1.1 refuses b' },
    ]);
    expect(shown).toContain(
      '## §1.1 Things\n\nTwo values.\n\n- [test/x.test.ts](../test/x.test.ts)\n\n## §1.2 Nothing\n',
    );
    expect(shown).toContain('No test. *Later: All of it.*');
  });
});
