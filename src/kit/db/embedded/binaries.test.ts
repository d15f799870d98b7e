import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { copyBinaries, installedBinaries, linkLibraries } from './binaries.ts';

describe('src/kit/db/embedded/binaries', () => {
  it('copies binaries that run, also when no install script has made the links', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-binaries-'));
    try {
      const lines: string[] = [];
      const installed = await installedBinaries();
      const copy = await copyBinaries(installed, folder, (line) => lines.push(line));
      const libraries = join(copy.root, 'native/lib');
      for (const name of await readdir(libraries)) {
        if ((await lstat(join(libraries, name))).isSymbolicLink()) await rm(join(libraries, name));
      }
      const links = await linkLibraries(copy, folder);
      const { stdout } = await promisify(execFile)(join(copy.root, 'native/bin/postgres'), ['--version'], {
        env: { LD_LIBRARY_PATH: `${links}:${libraries}`, DYLD_LIBRARY_PATH: `${links}:${libraries}` },
      });
      expect(stdout).toContain(`(PostgreSQL) ${installed.major}.`);
      expect((await copyBinaries(installed, folder, (line) => lines.push(line))).root).toBe(copy.root);
      expect(lines).toEqual([expect.stringContaining(copy.root)]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('is without no library at any moment while another process links them again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-binaries-'));
    try {
      const installed = await installedBinaries();
      const moved = join(folder, 'moved');
      await symlink(installed.root, moved);
      const links = await linkLibraries(installed, folder);
      const libraries = readdirSync(links).map((name) => join(links, name));
      const missing = new Set<string>();
      const linked = new AbortController();
      const watched = (async () => {
        for (; !linked.signal.aborted; await setImmediate())
          for (const path of libraries) if (!existsSync(path)) missing.add(path);
      })();
      for (let made = 0; made < 25; made += 1)
        await Promise.all([
          linkLibraries(installed, folder),
          linkLibraries({ ...installed, root: moved }, folder),
        ]);
      linked.abort();
      await watched;
      expect([...missing]).toEqual([]);
      expect(readdirSync(links)).toHaveLength(libraries.length);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
