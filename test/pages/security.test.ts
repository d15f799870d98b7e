import { existsSync, readFileSync } from 'node:fs';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';

/** Columns of these names hold ids, times, counts and states, in whatever table. */
const plain = new Set(
  readFileSync('test/pages/plain-columns.txt', 'utf8')
    .split(/\s+/)
    .filter((name) => name !== ''),
);

/** A hash that says how it was made, lists of digests in hex, and a key that may also be a network address. */
const hashedAsText = new Set(['person.password', 'second_factor.recovery_hashes', 'sign_in_failure.key']);

const rowsOf = (page: string, form: RegExp): string[][] =>
  readFileSync(page, 'utf8')
    .split('\n')
    .filter((line) => form.test(line))
    .map((line) => line.split('|').slice(1, -1));

const namesIn = (text = ''): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

describe('test/pages/security: what is kept where', () => {
  let test: TestDatabase;
  const columns = new Map<string, Set<string>>();
  const types = new Map<string, string>();
  beforeAll(async () => {
    test = await createTestDatabase();
    const client = new Client(test.url);
    await client.connect();
    const { rows } = await client.query<{ table: string; name: string; type: string }>(
      `SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
         AND a.attnum > 0 AND NOT a.attisdropped AND c.relname <> 'migrations'`,
    );
    await client.end();
    for (const { table, name, type } of rows) {
      columns.set(table, (columns.get(table) ?? new Set()).add(name));
      types.set(`${table}.${name}`, type);
    }
  });
  afterAll(() => test?.drop());

  const kept = rowsOf('docs/security.md', /^\| `\w+` \|/).map(([table, ...cells]) => ({
    table: namesIn(table)[0] ?? '',
    cells: cells.map(namesIn),
  }));

  it('names no table and no column that is not there', () => {
    const gone = kept.flatMap(({ table, cells }) =>
      cells
        .flat()
        .filter((name) => !columns.get(table)?.has(name))
        .map((name) => `${table}.${name}`),
    );
    expect(gone).toEqual([]);
  });

  it('names every column that holds more than ids, times, counts and states', () => {
    const named = new Set(kept.flatMap(({ table, cells }) => cells.flat().map((name) => `${table}.${name}`)));
    const missing = [...columns].flatMap(([table, names]) =>
      [...names]
        .filter((name) => !plain.has(name) && !named.has(`${table}.${name}`))
        .map((name) => `${table}.${name}`),
    );
    expect(missing).toEqual([]);
  });

  it('calls sealed or hashed only what is kept as bytes', () => {
    const readable = kept.flatMap(({ table, cells: [sealed = [], hashed = []] }) =>
      [...sealed, ...hashed]
        .map((name) => `${table}.${name}`)
        .filter((name) => !types.get(name)?.startsWith('bytea') && !hashedAsText.has(name)),
    );
    expect(readable).toEqual([]);
  });

  it('names every table', () => {
    const page = readFileSync('docs/security.md', 'utf8');
    expect([...columns.keys()].filter((table) => !page.includes(`\`${table}\``))).toEqual([]);
  });
});

describe('test/pages/security: ASVS', () => {
  const rows = rowsOf('docs/security-asvs.md', /^\| \d+\.\d+\.\d+ \|/).map((cells) =>
    cells.map((cell) => cell.trim()),
  );

  it('has every requirement of levels 1 and 2 once, with its level', () => {
    const official = readFileSync('test/pages/asvs.txt', 'utf8').trim().split(' ');
    expect(official).toHaveLength(253);
    expect(rows.map(([id, level]) => `${id}:${level}`)).toEqual(official);
  });

  it('says of each whether it is met, and of what is not, why', () => {
    const odd = rows.filter(([, , , answer = '', proof = '']) =>
      answer.startsWith('met') ? proof === '' : !/^(\*\*not met\*\*|not ours)\. ./.test(answer),
    );
    expect(odd).toEqual([]);
  });

  it('counts them right', () => {
    const count = (form: RegExp): number => rows.filter(([, , , answer = '']) => form.test(answer)).length;
    const counts = `Met: ${count(/^met/)}. Not met: ${count(/^\*\*not met/)}, each with what is missing. Not ours: ${count(/^not ours/)},`;
    expect(readFileSync('docs/security-asvs.md', 'utf8')).toContain(counts);
  });

  it('names as proof only files that exist', () => {
    const named = rows.flatMap(([, , , , proof]) => namesIn(proof));
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });
});

describe('test/pages/security: parts', () => {
  interface Lock {
    packages: Record<
      string,
      {
        optionalDependencies?: Record<string, string>;
        integrity?: string;
        link?: boolean;
        os?: string[];
        dev?: boolean;
        inBundle?: boolean;
      }
    >;
  }
  const lock = (path: string): Lock => JSON.parse(readFileSync(path, 'utf8')) as Lock;
  const locks = ['package-lock.json', 'site/package-lock.json', 'test/openapi/package-lock.json'];

  it.each(locks)(
    '%s has what each platform takes, so that none is left to be chosen at an install',
    (path) => {
      const { packages } = lock(path);
      const missing = Object.entries(packages).flatMap(([at, { optionalDependencies = {} }]) =>
        Object.keys(optionalDependencies).filter(
          (name) => !placesOf(at, name).some((place) => place in packages),
        ),
      );
      expect(missing).toEqual([]);
    },
  );

  it.each(locks)('%s has the hash of each part, but of builds of tools for other platforms', (path) => {
    const bare = Object.entries(lock(path).packages).filter(
      ([at, { integrity, link, inBundle, os, dev }]) =>
        at.includes('node_modules/') &&
        !integrity &&
        !link &&
        !inBundle &&
        !(os && (dev || path !== 'package-lock.json')),
    );
    expect(bare.map(([at]) => at)).toEqual([]);
  });
});

/** Where a package finds another, nearest first. */
function placesOf(at: string, name: string): string[] {
  const parents = at
    .split('node_modules/')
    .map((_, index, all) => all.slice(0, all.length - index).join('node_modules/'));
  return [
    ...parents.map((parent) => `${parent.replace(/\/$/, '')}/node_modules/${name}`.replace(/^\//, '')),
    `node_modules/${name}`,
  ];
}
