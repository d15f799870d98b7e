import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mutants } from './mutants.ts';
import { parts } from './sources.ts';

const root = join(import.meta.dirname, '../..');

describe('test/mutants', () => {
  it.each(mutants.map(({ name, changes }) => ({ name, changes })))(
    'the place where "$name" goes wrong stands once in the sources',
    async ({ changes }) => {
      const counts = changes.map(async ({ file, find }) => {
        const text = await readFile(join(root, file), 'utf8');
        return { file, times: text.split(find).length - 1 };
      });
      expect(await Promise.all(counts)).toEqual(changes.map(({ file }) => ({ file, times: 1 })));
    },
  );

  it('the tests that must notice it import nothing that a copy of the sources lacks', async () => {
    const files = [...new Set(mutants.flatMap(({ tests }) => tests))];
    const imported = files.map(async (file) => {
      const text = await readFile(join(root, file), 'utf8');
      const paths = Array.from(text.matchAll(/from '(\.[^']+)'/g), ([, path = '']) => path);
      return paths.map((path) => relative(root, join(root, dirname(file), path)));
    });
    const isCopied = (path: string): boolean => parts.some((part) => path.startsWith(`${part}/`));
    expect((await Promise.all(imported)).flat().filter((path) => !isCopied(path))).toEqual([]);
  });
});
