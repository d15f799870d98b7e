/** Refuses a conflict that was not resolved, and a citation or a link that leads nowhere: a page, a heading, an invariant, a heading of the contract, a paragraph, or a test that is not there. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTests } from './spec-coverage/find.ts';
import { citationsIn, faultIn, type Known } from './citations.ts';
import { deadLinks } from './links.ts';

const root = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const headings = (path: string, form: RegExp): Set<string> =>
  new Set([...read(path).matchAll(form)].map((match) => match[1] ?? ''));

const paths = globSync(
  [
    '*.md',
    '{docs,src,ui,simulator,bench,test,scripts,examples}/**/*.{ts,md,mjs,sql,yaml}',
    'migrations/**/*.{sql,json}',
  ],
  { cwd: root, exclude: (path) => /node_modules|\/dist\b/.test(path) },
).map((path) => path.replaceAll('\\', '/'));
/** Their examples lead nowhere. */
const exempt = new Set([
  'scripts/citations.ts',
  'scripts/citations.test.ts',
  'test/journeys/docs-site.test.ts',
  'scripts/links.ts',
  'scripts/links.test.ts',
  'scripts/spec-coverage/coverage.test.ts',
]);

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
});
const there = new Set(tracked.toString().split('\n'));

const known: Known = {
  files: there,
  invariants: headings('docs/invariants.md', /^## (\d+)\. /gm),
  contract: headings('docs/contract.md', /^## (.+)$/gm),
  paragraphs: headings('docs/spec-coverage.md', /^## §([\d.]+) /gm),
};

const faults = paths
  .filter((path) => !exempt.has(path))
  .flatMap((path) =>
    citationsIn(read(path)).flatMap((citation) => {
      const fault = faultIn(citation, path, known);
      return fault === undefined ? [] : [`${path}:${citation.line}: ${fault}`];
    }),
  );

const pages = new Map(paths.filter((path) => path.endsWith('.md')).map((path) => [path, read(path)]));
for (const [path, text] of pages) faults.push(...deadLinks({ path, text }, pages, there));

const tests = readTests(root, ['src', 'test']);
const held = read('docs/invariants.md').split(/^## /m).slice(1);
for (const section of held) {
  const [title = ''] = section.split('\n');
  const references = [...section.matchAll(/`(\S+\.test(?:suite)?\.ts > [^`]+)`/g)].map(
    (match) => match[1] ?? '',
  );
  if (references.length === 0) faults.push(`docs/invariants.md, ${title}: no test holds it`);
  for (const reference of references) {
    const fault = tests.find(reference);
    if (fault !== undefined) faults.push(`docs/invariants.md, ${title}: ${fault}: ${reference}`);
  }
}

for (const fault of faults) console.log(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
