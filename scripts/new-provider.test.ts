import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadCatalog } from '../src/providers/index.ts';

const script = join(import.meta.dirname, 'new-provider.ts');
const directory = mkdtempSync(join(tmpdir(), 'svc-new-provider-'));
afterAll(() => rmSync(directory, { recursive: true }));

describe('scripts/new-provider', () => {
  it('makes a file that the catalogue takes, and says what comes next', () => {
    const said = execFileSync(process.execPath, [script, 'acmeBooks', directory], { encoding: 'utf8' });
    expect(said).toContain('SVC_PROVIDERS_DIR');
    expect(readFileSync(join(directory, 'acmeBooks.yaml'), 'utf8')).not.toContain('__');
    expect(loadCatalog({ directory }).get('acmeBooks')).toMatchObject({ displayName: 'Acme Books' });
  });

  it.each([
    ['a key that is taken', 'hubspot', /already/],
    ['a file that is there', 'acmeBooks', /already/],
    ['a key that is none', 'acme-books', /Usage/],
    ['no key', '', /Usage/],
    [
      'a folder that is not there',
      'acmeLedgers',
      /^There is no folder \S+missing: make it first\.$/m,
      'missing',
    ],
  ])('refuses %s', (_name, key, expected, folder = '.') => {
    const args = [script, key, join(directory, folder)];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toMatch(expected);
  });
});
