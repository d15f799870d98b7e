import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv, promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../src/config.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');
const isThere = (program: string): Promise<boolean> =>
  run('sh', ['-c', `command -v ${program}`]).then(
    () => true,
    () => false,
  );
const [hasPromtool, hasSystemd] = await Promise.all([isThere('promtool'), isThere('systemd-analyze')]);

interface Compose {
  services: Record<
    string,
    {
      command?: string[];
      environment?: Record<string, string>;
      depends_on?: string[] | Record<string, unknown>;
    }
  >;
}

/** A script that prints the file, with each secret made as the line above it says. */
function exampleOf(text: string): string {
  const secrets = [...text.matchAll(/^# ([^;\n]*openssl rand [^;\n]*).*\n(SVC_\w+)=$/gm)];
  return secrets
    .map(([, how = '', name]) => `echo "${name}=${how.startsWith('openssl') ? `$(${how})` : how}"`)
    .join('\n');
}

describe('test/deploy/files', () => {
  it('names variables, roles and services that there are', async () => {
    const text = await read('deploy/compose.yaml');
    const { services } = parse(text, { merge: true }) as Compose;
    const page = await read('docs/configuration.md');
    const known = new Set([...page.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name));
    expect(known.size).toBeGreaterThan(30);
    const used = Object.entries(services).filter(([, { command }]) => command);
    expect(used.map(([name, { command }]) => `${name}: ${command?.join(' ')}`)).toEqual([
      'migrate: migrate',
      'api-1: api',
      'api-2: api',
      'worker-1: worker',
      'worker-2: worker',
    ]);
    for (const [, { environment = {} }] of used)
      expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
    for (const { depends_on: needed = [] } of Object.values(services))
      for (const name of Array.isArray(needed) ? needed : Object.keys(needed))
        expect(Object.keys(services)).toContain(name);
    const given: string[] = (await read('deploy/svc.env.example')).match(/^\w+(?==)/gm) ?? [];
    const wanted = new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name));
    expect(new Set(given)).toEqual(wanted);
    const { stdout: made } = await run('sh', ['-c', exampleOf(await read('deploy/svc.env.example'))]);
    expect(readConfig(parseEnv(made)).bootstrapApiKey).toMatch(/^[0-9a-f]{64}$/);
    const dockerfile = await read('deploy/Dockerfile');
    const set = [...dockerfile.matchAll(/\b(SVC_\w+)=/g)].map(([, name]) => name);
    expect(set.filter((name) => !known.has(name))).toEqual([]);
  });

  it('copies into the image only what its context holds', async () => {
    const context: string[] = (await read('.dockerignore')).match(/(?<=^!).+/gm) ?? [];
    const copied = [...(await read('deploy/Dockerfile')).matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(
      ([, paths = '']) => paths.split(' '),
    );
    expect(copied.filter((path) => !context.includes(path))).toEqual([]);
    expect(context.filter((path) => !copied.includes(path))).toEqual([]);
  });

  it.skipIf(!hasPromtool)(
    'has alerts that each fire on the fault that they are for (needs promtool)',
    async () => {
      const { stdout } = await run('promtool', ['test', 'rules', 'alerts.test.yaml'], {
        cwd: join(root, 'deploy/prometheus'),
      });
      expect(stdout).toContain('SUCCESS');
      const alerts = [...(await read('deploy/prometheus/alerts.yaml')).matchAll(/alert: (\w+)/g)];
      const cases = await read('deploy/prometheus/alerts.test.yaml');
      expect(alerts.length).toBeGreaterThan(5);
      for (const [, name] of alerts) expect(cases).toContain(`alertname: ${name}`);
    },
  );

  it.skipIf(!hasSystemd)('has a unit that systemd takes (needs systemd-analyze)', async () => {
    const { stdout, stderr } = await run('systemd-analyze', ['verify', join(root, 'deploy/svc.service')]);
    const said = `${stdout}${stderr}`.split('\n').filter((line) => !line.includes('/usr/bin/node is not'));
    expect(said.join('')).toBe('');
  });
});
