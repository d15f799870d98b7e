import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mutants } from './mutants.ts';

describe('test/mutants', () => {
  it.each(mutants.map(({ name, changes }) => ({ name, changes })))(
    'the place where "$name" goes wrong stands once in the sources',
    async ({ changes }) => {
      for (const { file, find } of changes) {
        const text = await readFile(join(import.meta.dirname, '../..', file), 'utf8');
        expect(text.split(find), file).toHaveLength(2);
      }
    },
  );
});
