import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { TitledTest } from './coverage.ts';
import { parse } from './literal.ts';
import { declaredTests, type DeclaredTest } from './titles.ts';

/** Says of a reference to a test what is wrong with it; undefined when it names one test that runs. */
export type Finder = (reference: string) => string | undefined;

export interface TestFiles {
  find: Finder;
  /** Every test that runs; one of a table once for each row. */
  all(): TitledTest[];
}

/** Knows the tests below the folders; suites that several test files share count where a test file imports them. */
export function readTests(root: string, folders: readonly string[]): TestFiles {
  const paths = folders
    .flatMap((folder) => globSync(`${folder}/**/*.{test,testsuite}.ts`, { cwd: root }))
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted();
  const texts = new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
  const files = new Map<string, DeclaredTest[]>();
  const isRun = (path: string): boolean =>
    path.endsWith('.test.ts') ||
    [...texts].some(([other, text]) => other.endsWith('.test.ts') && text.includes(`${basename(path)}'`));
  const testsOf = (path: string): DeclaredTest[] => {
    const known = files.get(path) ?? declaredTests(parse(join(root, path), texts.get(path)));
    files.set(path, known);
    return known;
  };
  return {
    find(reference) {
      const [, path = '', title = ''] = /^(\S+) > (.+)$/.exec(reference) ?? [];
      if (!texts.has(path)) return 'there is no such test file';
      return isRun(path) ? faultOf(testsOf(path), title) : 'no test file runs this suite';
    },
    all: () =>
      paths.filter(isRun).flatMap((path) =>
        testsOf(path)
          .filter(({ skipped }) => !skipped)
          .flatMap(({ title, cases }) => (cases.length > 0 ? cases : [title]))
          .map((title) => ({ path, title })),
      ),
  };
}

/** A title may be given whole, or by a part that one test only has. */
export function faultOf(known: readonly DeclaredTest[], title: string): string | undefined {
  const named = known.filter((test) => test.title === title || test.title.endsWith(` > ${title}`));
  const alike = named.length > 0 ? named : known.filter((test) => test.title.includes(title));
  const rows = known.flatMap((test) =>
    test.cases.filter((one) => one.includes(title)).map((one) => ({ test, one })),
  );
  const matches = alike.length > 0 ? alike : rows.map(({ test }) => test);
  if (matches.length === 0) return 'there is no such test';
  if (matches.length > 1) return `${matches.length} tests have this in their title`;
  return matches[0]?.skipped ? 'the test is skipped' : undefined;
}
