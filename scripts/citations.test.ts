import { describe, expect, it } from 'vitest';
import { citationsIn, faultIn } from './citations.ts';

const known = {
  files: new Set(['docs/guides/proxy.md', 'docs/errors/README.md', 'src/providers/hubspot/facts.md']),
  invariants: new Set(['4']),
  contract: new Set(['Write']),
  paragraphs: new Set(['2.4', '4.2.1']),
};
const faultsIn = (text: string, from = 'src/a.ts') =>
  citationsIn(text).flatMap((citation) => faultIn(citation, from, known) ?? []);

describe('scripts/citations', () => {
  it.each([
    '(docs/guides/proxy.md)',
    'see [proxy](guides/proxy.md) and `errors/README.md`',
    '`src/providers/hubspot/facts.md` in `src/providers/`, not `src/providers/<key>`',
    '(§2.4, §4.2.1)',
    'RFC 9457, 3.1',
    'https://example.com/a/b.md',
  ])('lets pass what leads somewhere: %s', (text) => {
    expect(faultsIn(text, 'docs/operating.md')).toEqual([]);
  });

  it('finds a page beside the file that names it', () => {
    expect(faultsIn('(facts.md)', 'src/providers/hubspot/write.ts')).toEqual([]);
    expect(faultsIn('(facts.md)', 'src/providers/write.ts')).toEqual(['there is no page facts.md']);
  });

  it.each([
    ['a\n<<<<<<< HEAD\nb', 'a conflict of a merge stands in the text'],
    ['(work.md, rule 5)', 'there is no page work.md'],
    ['(docs/nothing.md)', 'there is no page docs/nothing.md'],
    ['`src/providers/nothing.ts`', 'there is no src/providers/nothing.ts'],
    ['(docs/invariants.md, 7)', 'docs/invariants.md has no rule 7'],
    ['(docs/contract.md, Read)', 'docs/contract.md has no heading "Read"'],
    ['(§4.2.9)', 'docs/spec-coverage.md has no §4.2.9'],
    ['(contract, Errors)', '"contract, Errors" is a document outside the repository'],
    ['(providers H1)', '"providers H1" is a document outside the repository'],
    ['product-api 2.2', '"product-api" is a document outside the repository'],
    ['(reliability 1.1)', '"reliability 1.1" is a document outside the repository'],
    ['specification 2.5', '"specification 2.5" is a document outside the repository'],
  ])('refuses %s', (text, fault) => {
    const files = new Set(['docs/invariants.md', 'docs/contract.md']);
    const faults = citationsIn(text).flatMap(
      (citation) =>
        faultIn(citation, 'src/a.ts', { ...known, files: new Set([...known.files, ...files]) }) ?? [],
    );
    expect(faults).toEqual([fault]);
  });
});
