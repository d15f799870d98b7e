import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEmptyDatabase } from '../../../test/database.ts';
import { freePort } from '../../../test/free-port.ts';
import { serversOf } from '../../../test/starts.ts';
import { openFolder, type Folder } from '../run.fixture.ts';

describe('cli/dev', () => {
  let at: Folder;
  beforeEach(async () => {
    at = await openFolder();
    // As root the embedded server runs as another user, who must get there.
    await chmod(at.folder, 0o755);
  });
  afterEach(() => at.close());

  it('init writes a commented manifest that is valid, and nothing over a file or without an answer', async () => {
    const wrote = await at.run([
      'init',
      '--provider',
      'hubspot',
      '--object',
      'contacts',
      '--object',
      'deals',
    ]);
    expect(wrote).toMatchObject({ code: 0, err: '' });
    const text = await readFile(join(at.folder, 'svc.yaml'), 'utf8');
    expect(text).toContain('# svc validate checks it');
    expect(await at.run(['validate'])).toMatchObject({
      code: 0,
      out: 'svc.yaml is valid: 1 integration, 0 warnings.\n',
    });
    expect(await at.run(['init', '--provider', 'hubspot', '--object', 'x'])).toMatchObject({
      code: 2,
      out: '',
    });
    for (const [provider, ...more] of [['salesforce', '--object', 'Contact'], ['stripe']])
      expect(
        await at.run(['init', `${provider}.yaml`, '--provider', String(provider), ...more]),
      ).toMatchObject({
        code: 0,
      });
    expect(await at.run(['validate', 'salesforce.yaml'])).toMatchObject({ code: 0 });
    expect(await at.run(['validate', 'stripe.yaml'])).toMatchObject({ code: 0 });
    for (const [args, said] of [
      [['--provider', 'hubspto'], 'Did you mean hubspot'],
      [['--provider', 'hubspot'], 'nobody can be asked'],
      [[], 'svc init other.yaml --provider hubspot'],
      [['--provider', 'hubspot', '--object', 'contacts', '--name', ''], 'Give other names.'],
    ] as const)
      expect(await at.run(['init', 'other.yaml', ...args])).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining(said) as string,
      });
    await expect(readFile(join(at.folder, 'other.yaml'))).rejects.toThrow('ENOENT');
  }, 60_000);

  it('dev names the option of the receiver when its port is taken', async () => {
    await at.run(['init', '--provider', 'hubspot', '--object', 'contacts']);
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    expect(await at.run(['dev', '--receiver-port', String(port)])).toMatchObject({
      code: 2,
      err: `Port ${port} cannot be listened on: something else listens there.\nGive another: --receiver-port ${port + 1}.\n`,
    });
    taken.close();
  }, 30_000);

  it('dev delivers a first record within a minute, deploys what is saved, and leaves nothing running or in a database of the shell', async () => {
    const ofShell = await createEmptyDatabase();
    await at.run(['init', '--provider', 'hubspot', '--object', 'contacts']);
    const [port, receiver] = [await freePort(), await freePort()];
    let child: ChildProcess | undefined;
    let said = '';
    const began = performance.now();
    const running = at.run(['dev', '--port', String(port), '--receiver-port', String(receiver)], {
      env: { DATABASE_URL: ofShell.url },
      started: (started) => {
        child = started;
        for (const stream of [started.stdout, started.stderr])
          stream?.on('data', (chunk: Buffer) => (said += chunk.toString()));
      },
    });
    try {
      await expect
        .poll(() => said, { timeout: 60_000 })
        .toMatch(/ {2}read {2}contacts {2}acme {2}\d+ records {2}→ 204/);
      expect(said).toContain(`svc write hubspot contacts --group acme --data '{"email":"ada@example.com"}'`);
      expect(performance.now() - began).toBeLessThan(60_000);
      const [, url = '', key = ''] = /SVC_API_URL=(\S+) SVC_API_KEY=(\S+)/.exec(said) ?? [];
      const env = { SVC_API_URL: url, SVC_API_KEY: key };
      const data = '{"email":"dev@example.com"}';
      expect(await at.run(['write', 'hubspot', 'contacts', '-g', 'acme', '-d', data], { env })).toMatchObject(
        {
          code: 0,
        },
      );
      const manifest = join(at.folder, 'svc.yaml');
      await writeFile(manifest, 'specVersion: [');
      await expect.poll(() => said, { timeout: 20_000 }).toContain('Correct it and save it again.');
      await at.run(['init', '--force', '--provider', 'hubspot', '--object', 'companies']);
      await expect.poll(() => said.match(/Deployed svc\.yaml/g)?.length, { timeout: 20_000 }).toBe(2);
      expect((await at.run(['integrations', 'get', 'hubspot'], { env })).out).toContain('companies');
      const text = await readFile(manifest, 'utf8');
      await writeFile(
        manifest,
        text.replace(/^( *)- objectName: "companies"\n/m, '$&$1  requiredFields: [{ fieldName: naem }]\n'),
      );
      await expect.poll(() => said, { timeout: 20_000 }).toContain('has no field "naem"');
    } finally {
      child?.kill('SIGINT');
    }
    expect((await running).code).toBe(0);
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed');
    expect(await ofShell.database.raw("SELECT FROM pg_tables WHERE schemaname = 'public'")).toEqual([]);
    await ofShell.drop();
  }, 150_000);

  it('dev ends at Ctrl+C while it starts, and leaves nothing running', async () => {
    await at.run(['init', '--provider', 'hubspot', '--object', 'contacts']);
    const [port, receiver] = [await freePort(), await freePort()];
    const running = at.run(['dev', '--port', String(port), '--receiver-port', String(receiver)], {
      started: (started) => {
        // While its database is made, or starts.
        started.stderr?.once('data', () => setTimeout(() => started.kill('SIGINT'), 500));
      },
    });
    const { code, out, err } = await running;
    expect(code).toBe(0);
    expect(out + err).toContain('Starting the server');
    expect(out + err).not.toContain('In another terminal:');
    expect(await serversOf(at.folder)).toEqual([]);
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow('fetch failed');
  }, 150_000);

  it('dev makes a new key where the server does not take the one that it kept', async () => {
    await at.run(['init', '--provider', 'hubspot', '--object', 'contacts']);
    const file = join(at.folder, '.svc/dev/first-api-key');
    const keptKey = async (): Promise<string> => (await readFile(file, 'utf8')).trim();
    /** Until what it says holds the text; then it does something, and Ctrl+C ends it. */
    const during = async (work: (said: string, url: string) => Promise<void>): Promise<void> => {
      const [port, receiver] = [await freePort(), await freePort()];
      const children: ChildProcess[] = [];
      let [said, over] = ['', false];
      const running = at.run(['dev', '--port', String(port), '--receiver-port', String(receiver)], {
        started: (started) => {
          children.push(started);
          for (const stream of [started.stdout, started.stderr])
            stream?.on('data', (chunk: Buffer) => (said += chunk.toString()));
        },
      });
      void running.then(() => (over = true));
      try {
        await expect
          .poll(() => over || said.includes('In another terminal:'), { timeout: 60_000 })
          .toBe(true);
        await work(said, `http://127.0.0.1:${port}`);
      } finally {
        for (const child of children) child.kill('SIGINT');
      }
      expect(await running).toMatchObject({ code: 0 });
    };
    let firstKey = '';
    await during(async (_, url) => {
      firstKey = await keptKey();
      const asIt = { SVC_API_URL: url, SVC_API_KEY: firstKey };
      const list = await at.run(['keys', 'list', '--json'], { env: asIt });
      const { id } = JSON.parse(list.out) as { id: string };
      expect(await at.run(['keys', 'disable', id, '--yes'], { env: asIt })).toMatchObject({ code: 0 });
    });
    await during(async (said) => {
      expect(said).toContain(`a new one was made, and is in ${file}.`);
      expect(said).toContain('Deployed svc.yaml');
      const key = await keptKey();
      expect(key).not.toBe(firstKey);
      expect(said).toContain(`SVC_API_KEY=${key} `);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    });
    await during(async (said) => {
      expect(said).not.toContain('a new one was made');
      await Promise.resolve();
    });
  }, 150_000);
});
