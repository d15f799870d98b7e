import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../test/database.ts';
import { freePort } from '../../test/free-port.ts';
import { openFolder, svc, type Folder } from './run.fixture.ts';

describe('cli/built', () => {
  let at: Folder;
  beforeEach(async () => {
    at = await openFolder();
  });
  afterEach(() => at.close());

  it.each([
    '--version',
    '--help',
    'write --help',
    'deliveries --help',
    'wriet',
    'deliveries list --status lost',
    'operations get',
    'validate',
    'deploy',
    'operations get x',
  ])('in an empty folder it says to: svc %s', async (words) => {
    const { code, out, err } = await at.run(words.split(' '));
    expect(`${out}${err === '' ? '' : `--- error output\n${err}`}--- exit code ${code}\n`).toMatchSnapshot();
  });

  it('says of an older Node, whatever is asked, which one it needs', () => {
    const older = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' })`;
    for (const word of ['validate', 'server', '--version']) {
      const given = ['--import', `data:text/javascript,${encodeURIComponent(older)}`, svc, word];
      const { status, stderr } = spawnSync(process.execPath, given, { encoding: 'utf8' });
      expect([status, stderr]).toEqual([
        1,
        expect.stringMatching(/^svc needs Node 22\.19 or later; this is 20\.20\.2\.\nInstall .*\n$/),
      ]);
    }
  });

  it.each([
    ['svc deliv', 'deliveries'],
    ['svc deliveries re', 'replay replays retry'],
    ['svc deliveries list --stat', '--status'],
    ['svc deliveries list --status f', 'failed'],
    ['svc mas', 'master-keys'],
    ['svc validate bro', 'broken.yaml'],
  ])('completes in bash: %s', async (line, expected) => {
    await writeFile(join(at.folder, 'broken.yaml'), '');
    const { out } = await at.run(['completion', 'bash']);
    const words = line.split(' ');
    const script = `${out}\nCOMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _svc; echo "\${COMPREPLY[*]}"`;
    const said = execFileSync('bash', ['-c', script], { cwd: at.folder, encoding: 'utf8' });
    expect(said.trim().split(' ').toSorted().join(' ')).toBe(expected);
  });

  it('completes in zsh by way of bash, in fish by its own words', async () => {
    expect((await at.run(['completion', 'zsh'])).out).toContain('bashcompinit');
    expect((await at.run(['completion', 'fish'])).out).toContain(
      "complete -c svc -n '__fish_seen_subcommand_from deliveries; and __fish_seen_subcommand_from list' -l status -x -a 'pending delivered failed canceled'",
    );
    expect(await at.run(['completion', 'csh'])).toMatchObject({ code: 2, out: '' });
  });

  it('has the pages for browsers in what npm packs of it', () => {
    const packing = ['pack', '--dry-run', '--json', '--ignore-scripts', dirname(dirname(svc))];
    const [packed] = JSON.parse(execFileSync('npm', packing, { cwd: at.folder, encoding: 'utf8' })) as [
      { files: { path: string }[] },
    ];
    expect(packed.files.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['ui/console/dist/index.html', 'ui/embed/dist/page/index.html']),
    );
  });

  it('starts the server, which checks manifests in a thread of its own and shows its pages, and stops it', async () => {
    const database = await createTestDatabase();
    const [port, proxyPort] = [await freePort(), await freePort()];
    const child = spawn(process.execPath, [svc, 'server'], {
      cwd: at.folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        DATABASE_URL: database.url,
        SVC_DATA_DIR: join(at.folder, 'data'),
        SVC_ENCRYPTION_KEYS: `t1:${Buffer.alloc(32, 7).toString('base64')}`,
        SVC_BOOTSTRAP_API_KEY: 'a-key-that-is-long-enough-for-anybody',
        SVC_PORT: String(port),
        SVC_PROXY_PORT: String(proxyPort),
        SVC_DRAIN_MS: '0',
      },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    try {
      const base = `http://127.0.0.1:${port}`;
      const ready = () =>
        fetch(`${base}/readyz`).then(
          ({ status }) => status,
          () => 0,
        );
      await expect.poll(ready, { timeout: 60_000 }).toBe(200);
      const env = { SVC_API_URL: base, SVC_API_KEY: 'a-key-that-is-long-enough-for-anybody' };
      expect(await at.run(['deploy', '--dry-run'], { env })).toMatchObject({ code: 2 });
      const answer = await fetch(`${base}/v1/projects/default/integrations:batch`, {
        method: 'PUT',
        headers: { 'x-api-key': env.SVC_API_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ sourceYaml: 'specVersion: [' }),
      });
      expect(await answer.json()).toMatchObject({ code: 'manifest-invalid' });
      expect((await fetch(`${base}/docs/api/static/index.html`)).status).toBe(200);
      for (const path of ['/', '/connect/0192f0c1-0001-7000-8000-000000000001']) {
        const page = await fetch(`${base}${path}`, { headers: { accept: 'text/html' } });
        expect([path, page.status]).toEqual([path, 200]);
        const [asset = ''] = /(?<=src=")[^"]*\/assets\/[^"]+\.js/.exec(await page.text()) ?? [];
        const script = await fetch(`${base}${asset}`);
        expect(script.headers.get('content-type')).toContain('javascript');
      }
    } finally {
      child.kill('SIGTERM');
      await ended;
      await database.drop();
    }
    expect(child.exitCode).toBe(0);
  }, 120_000);
});
