import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError } from './config-error.ts';
import { describeConfig, publicUrlOf, readConfig } from './config.ts';
import { generateMasterKey } from './kit/vault.ts';

function issuesOf(env: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.issues : [String(error)];
  }
}

describe('config', () => {
  test('refuses a first key that can be none before anything is made', () => {
    for (const key of ['too short', `svc_${'a'.repeat(64)}`])
      expect(issuesOf({ SVC_BOOTSTRAP_API_KEY: key })).toEqual([
        expect.stringMatching(/^SVC_BOOTSTRAP_API_KEY must be 32 to 512 .*openssl rand -hex 32/),
      ]);
    expect(issuesOf({ SVC_BOOTSTRAP_API_KEY: 'a'.repeat(64) })).toEqual([]);
  });

  test('has a default for everything', () => {
    expect(readConfig({})).toMatchObject({
      production: false,
      port: 4000,
      proxyPort: 4001,
      limits: { bodyBytes: 10_485_760 },
    });
  });

  test('refuses an address of the database that is set and empty, and starts no embedded one instead', () => {
    const refused = [expect.stringMatching(/^DATABASE_URL is set and empty; .*unset it/)];
    for (const env of [{ DATABASE_URL: '' }, { DATABASE_URL: ' \t' }, { DATABASE_URL_FILE: '' }])
      expect(issuesOf(env)).toEqual(refused);
    expect(issuesOf({ SVC_EXTRA_CA: '' })).toEqual([]);
  });

  test('reports every fault at once, each with the name of its variable', () => {
    const issues = issuesOf({
      SVC_PORT: 'x',
      SVC_LEASE_MS: '1',
      SVC_PUBLIC_URL: 'ftp://a',
      SVC_PROVIDER_ORIGINS: 'hubspot',
      SVC_PROT: '1',
    });
    expect(issues.map((issue) => issue.split(' ')[0])).toEqual(
      expect.arrayContaining([
        'SVC_PORT',
        'SVC_LEASE_MS',
        'SVC_PUBLIC_URL',
        'SVC_PROVIDER_ORIGINS',
        'SVC_PROT',
      ]),
    );
  });

  test('an OpenID provider is given whole, and its issuer is one', () => {
    const whole = {
      SVC_OIDC_ISSUER: 'https://id.example.com/realms/a',
      SVC_OIDC_CLIENT_ID: 'svc',
      SVC_OIDC_CLIENT_SECRET: 'secret',
    };
    expect(issuesOf(whole)).toEqual([]);
    const missing = (name: string): string =>
      `${name} is missing: signing in elsewhere needs all of ${Object.keys(whole).join(', ')}`;
    expect(issuesOf({ ...whole, SVC_OIDC_CLIENT_SECRET: '' })).toEqual([missing('SVC_OIDC_CLIENT_SECRET')]);
    expect(issuesOf({ SVC_OIDC_NAME: 'Acme' })).toEqual(Object.keys(whole).map(missing));
    for (const issuer of ['id.example.com', 'http://id.example.com', 'https://id.example.com/?a=b'])
      expect(issuesOf({ ...whole, SVC_OIDC_ISSUER: issuer })).toEqual([
        expect.stringMatching(/^SVC_OIDC_ISSUER must be /),
      ]);
  });

  test('knows every variable that a page names', () => {
    const pages = readdirSync('docs', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md'))
      .map((path) => join('docs', path));
    const named = ['README.md', ...pages].flatMap((page) =>
      (readFileSync(page, 'utf8').match(/\bSVC_[A-Z_]*[A-Z]\b/g) ?? []).map((name) => ({ name, page })),
    );
    expect(named.length).toBeGreaterThan(50);
    const isUnknown = (name: string): boolean =>
      issuesOf({ [name]: 'x' }).some((issue) => issue.includes(`${name} is not a known variable`));
    expect(isUnknown('SVC_PROT')).toBe(true);
    expect(issuesOf({ SVC_PROT: 'x' })[0]).toContain('did you mean SVC_PORT?');
    expect(named.filter(({ name }) => isUnknown(name))).toEqual([]);
  });

  test('production mode needs encryption keys', () => {
    expect(issuesOf({ DATABASE_URL: 'postgres://x' })[0]).toContain('SVC_ENCRYPTION_KEYS');
    expect(
      readConfig({ DATABASE_URL: 'postgres://x', SVC_ENCRYPTION_KEYS: generateMasterKey('a') }).production,
    ).toBe(true);
  });

  test.each([
    '127.0.0.1:5999/nope',
    'mysql://u:hunter2@h/d',
    'svc',
    'postgres://u:hunter2#@h/d',
    'postgres://u:P@hunter2#@h/d',
    'postgres://u:P@hunter2/@h/d',
    'postgres://u:P@hunter2?@h/d',
    '/run/postgresql',
  ])('refuses %s as the URL of a database, and does not repeat it', (url) => {
    for (const name of ['DATABASE_URL', 'SVC_DATABASE_DIRECT_URL']) {
      const [issue = ''] = issuesOf({ [name]: url });
      expect(issue).toMatch(new RegExp(`^${name} must be a URL such as postgres://`));
      expect(issue).not.toContain('hunter2');
    }
  });

  test.each([
    'postgresql://u:p@h:5432/d?sslmode=require',
    'postgres:///d?host=/run/postgresql',
    'postgres://u@%2Frun%2Fpostgresql/d',
    'postgres://u:P%40%23%2F%3F@h/d?sslmode=require',
    'postgres://u:P@p@h/d',
    'postgres://h/d?user=u@h&sslrootcert=/etc/ca.pem',
  ])('takes %s', (url) => {
    expect(issuesOf({ DATABASE_URL: url, SVC_ENCRYPTION_KEYS: generateMasterKey('a') })).toEqual([]);
  });

  test('each surface has a port of its own', () => {
    expect(issuesOf({ SVC_PORT: '4001' })).toEqual([
      'SVC_PROXY_PORT and SVC_PORT are both 4001; each needs a port of its own',
    ]);
    expect(issuesOf({ SVC_HEALTH_PORT: '4001' })).toEqual([
      expect.stringContaining('SVC_HEALTH_PORT and SVC_PROXY_PORT'),
    ]);
    expect(issuesOf({ SVC_PORT: '0', SVC_PROXY_PORT: '0', SVC_HEALTH_PORT: '0' })).toEqual([]);
  });

  test('reads a secret from the file that NAME_FILE names, and refuses both', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'svc-config-')), 'key');
    writeFileSync(file, 'postgres://from-file\n');
    const keys = generateMasterKey('a');
    expect(readConfig({ DATABASE_URL_FILE: file, SVC_ENCRYPTION_KEYS: keys }).databaseUrl).toBe(
      'postgres://from-file',
    );
    expect(issuesOf({ DATABASE_URL_FILE: file, DATABASE_URL: 'x', SVC_ENCRYPTION_KEYS: keys })[0]).toContain(
      'DATABASE_URL',
    );
    expect(issuesOf({ DATABASE_URL_FILE: `${file}.no`, SVC_ENCRYPTION_KEYS: keys })[0]).toContain(
      'the file that DATABASE_URL_FILE names',
    );
  });

  test('shows no secret', () => {
    const shown = JSON.stringify(
      describeConfig({ DATABASE_URL: 'postgres://u:hunter2@h/d', SVC_ENCRYPTION_KEYS: 'k:hunter2' }),
    );
    expect(shown).not.toContain('hunter2');
  });

  test('the address of a node is a URL, whatever it listens at', () => {
    const at = (SVC_HOST: string) => publicUrlOf(readConfig({ SVC_HOST, SVC_PORT: '4000' }));
    expect([at('::1'), at('127.0.0.1')]).toEqual(['http://[::1]:4000', 'http://127.0.0.1:4000']);
    expect(publicUrlOf(readConfig({ SVC_HOST: '::1', SVC_PUBLIC_URL: 'https://svc.example.com' }))).toBe(
      'https://svc.example.com',
    );
  });
});
