import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One change that makes the sources wrong. `find` stands exactly once in the file. */
export interface Change {
  file: string;
  find: string;
  replace: string;
}

/** The sources, wrong in one way, and the ordinary tests that must notice it. */
export interface Mutant {
  name: string;
  changes: Change[];
  /** Test files, from the root of the checkout. */
  tests: string[];
}

const repository = join(import.meta.dirname, '../..');
/** What the tests of the mutants import, from the root of the checkout. */
export const parts = [
  'src',
  'migrations',
  'simulator',
  'test',
  'examples',
  'scripts',
  'bench',
  'ui/client',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
  'openapi.json',
];

/** A copy of the checkout in the temp folder, with the same dependencies. */
export interface Copy {
  folder: string;
  /** Makes the changes; throws when one does not fit the sources any more. */
  change(changes: readonly Change[]): Promise<void>;
  /** Takes them back. */
  restore(changes: readonly Change[]): Promise<void>;
  remove(): Promise<void>;
}

export async function copySources(): Promise<Copy> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-copy-'));
  for (const part of parts) await cp(join(repository, part), join(folder, part), { recursive: true });
  await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
  return {
    folder,
    async change(changes) {
      for (const { file, find, replace } of changes) {
        const path = join(folder, file);
        const text = await readFile(path, 'utf8');
        const places = text.split(find).length - 1;
        if (places !== 1) throw new Error(`${file} holds ${JSON.stringify(find)} ${places} times, not once`);
        await writeFile(
          path,
          text.replace(find, () => replace),
        );
      }
    },
    async restore(changes) {
      for (const { file } of changes) await cp(join(repository, file), join(folder, file));
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
