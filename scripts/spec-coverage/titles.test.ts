import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faultOf, readTests } from './find.ts';
import { parse } from './literal.ts';
import { declaredTests, type DeclaredTest } from './titles.ts';

const text = `import { describe, expect, it, test as other } from 'vitest';
import { rows } from './rows.ts';
const sides = [{ name: 'left', run: () => 1 }, { name: 'right' }];
describe('a/file', () => {
  let test: { drop(): void };
  it('stands alone', () => { test.drop('no test'); });
  it.each([['one', 1], ['two', { a: 2 }]] as [string, unknown][])('takes %s of %j', () => {});
  it.each(rows)('reads %s from beside', () => {});
  it.each(sides)('goes $name', () => {});
  it.each(rows.map((row) => row))('computes %s', () => {});
  it(\`holds \${1 + 1} parts\`, () => {});
  describe('inner', () => { it('stands within', () => {}); });
  describe.each(sides)('$name side', () => { it('is repeated', () => {}); });
  it.skip('is not run', () => {});
  it.todo('is to be written');
  it('is not run by option', { skip: true }, () => {});
  describe.skip('put aside', () => { it('is inside of it', () => {}); });
});
`;

describe('scripts/spec-coverage/titles', () => {
  let folder: string;
  let known: DeclaredTest[];
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'titles-'));
    await writeFile(join(folder, 'rows.ts'), "export const rows = [['first'], [given()]];\n");
    known = declaredTests(parse(join(folder, 'a.test.ts'), text));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const found = (title: string) => faultOf(known, title);

  it('reads the title of each test with those of the blocks around it', () => {
    expect(known.map(({ title }) => title)).toEqual([
      'a/file > stands alone',
      'a/file > takes %s of %j',
      'a/file > reads %s from beside',
      'a/file > goes $name',
      'a/file > computes %s',
      'a/file > holds … parts',
      'a/file > inner > stands within',
      'a/file > $name side > is repeated',
      'a/file > is not run',
      'a/file > is to be written',
      'a/file > is not run by option',
      'a/file > put aside > is inside of it',
    ]);
  });

  it('words the rows of a table as the runner does, also of one that another file exports', () => {
    expect(known.flatMap(({ cases }) => cases)).toEqual([
      'a/file > takes one of 1',
      'a/file > takes two of {"a":2}',
      'a/file > reads first from beside',
      'a/file > reads … from beside',
      'a/file > goes left',
      'a/file > goes right',
    ]);
  });

  it.each([
    'stands alone',
    'inner > stands within',
    'takes %s of %j',
    'takes two of',
    'reads first',
    'goes right',
  ])('finds the test %j', (title) => {
    expect(found(title)).toBeUndefined();
  });

  it.each([
    ['stands away', 'there is no such test'],
    ['takes three of', 'there is no such test'],
    ['stands', '2 tests have this in their title'],
    ['is not run', 'the test is skipped'],
    ['is to be written', 'the test is skipped'],
    ['is not run by option', 'the test is skipped'],
    ['is inside of it', 'the test is skipped'],
  ])('says of %j: %s', (title, fault) => {
    expect(found(title)).toBe(fault);
  });

  it('reads every test below a folder, one of a table once for each row', async () => {
    await writeFile(join(folder, 'a.test.ts'), text);
    const tests = readTests(folder, ['.']).all();
    expect(tests).toContainEqual({ path: 'a.test.ts', title: 'a/file > takes one of 1' });
    expect(tests.some(({ title }) => title.endsWith('is not run'))).toBe(false);
  });
});
