import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mutants } from './mutants.ts';

describe('test/mutants', () => {
  it.each(mutants.map(({ name, changes }) => ({ name, changes })))(
    'the place where "$name" goes wrong stands once in the sources',
    async ({ changes }) => {
      const counts = changes.map(async ({ file, find }) => {
        const text = await readFile(join(import.meta.dirname, '../..', file), 'utf8');
        return { file, times: text.split(find).length - 1 };
      });
      expect(await Promise.all(counts)).toEqual(changes.map(({ file }) => ({ file, times: 1 })));
    },
  );
});
