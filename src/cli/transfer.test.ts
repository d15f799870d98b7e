import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, fault, install } from '../../test/customer.ts';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { startPlatform, type Platform } from '../../test/platform.ts';
import { openFolder, type Folder, type Ran } from './run.fixture.ts';

const passphrase = 'correct horse battery staple';

describe('cli/transfer', () => {
  const databases: TestDatabase[] = [];
  let from: Platform;
  let to: Platform;
  let at: Folder;

  beforeAll(async () => {
    const here = await createTestDatabase();
    const there = await createTestDatabase();
    databases.push(here, there);
    at = await openFolder();
    from = await startPlatform({ databaseUrl: here.url });
    to = await startPlatform({
      databaseUrl: there.url,
      beside: from,
      env: { SVC_ENCRYPTION_KEYS: `other:${Buffer.alloc(32, 9).toString('base64')}` },
    });
    await deploy(from);
    await install(from, 'hubspot-crm', 'acme');
  }, 240_000);
  afterAll(async () => {
    await at?.close();
    await to?.stop();
    await from?.stop();
    for (const one of databases) await one.drop();
  });

  const run = (platform: Platform, args: string[], input = `${passphrase}\n`): Promise<Ran> =>
    at.run(args, { env: { SVC_API_URL: platform.base, SVC_API_KEY: platform.apiKey }, input });
  const write = (platform: Platform): Promise<Ran> =>
    run(platform, [
      'write',
      'hubspot-crm',
      'contacts',
      '--group',
      'acme',
      '--data',
      JSON.stringify({ email: `${Math.random()}@transfer.example` }),
    ]);

  it('an export that nothing came of leaves no file and moves nothing', async () => {
    const short = await run(from, ['export', 'short.svc'], 'too short');
    expect(short).toMatchObject({ code: 2, out: '', err: expect.stringContaining('too short') as string });
    const nobody = await run(from, ['export', 'short.svc', '--move', '--yes', '--project', 'nobody']);
    expect(nobody).toMatchObject({ code: 1, out: '' });
    await writeFile(join(at.folder, 'there.svc'), 'something else');
    const there = await run(from, ['export', 'there.svc', '--move', '--yes']);
    expect(there).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('is there already') as string,
    });
    expect(await readFile(join(at.folder, 'there.svc'), 'utf8')).toBe('something else');
    expect(existsSync(join(at.folder, 'short.svc'))).toBe(false);
    expect((await write(from)).code).toBe(0);
  }, 60_000);

  it('export makes a file that its owner alone reads, and warns of two servers that renew', async () => {
    const made = await run(from, ['export', 'copy.svc', '--json']);
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(made.out)).toMatchObject({
      path: 'copy.svc',
      moved: false,
      counts: { connections: 1, installations: 1 },
      warnings: [{ message: expect.stringContaining('refresh token') as string }],
    });
    expect((await stat(join(at.folder, 'copy.svc'))).mode & 0o777).toBe(0o600);
  }, 60_000);

  it('export --move is taken back by export --undo', async () => {
    await fault(from.hubspot, { method: 'POST', path: '/companies', fault: { kind: 'hang' }, times: 1 });
    const waits = [
      'write',
      'hubspot-crm',
      'companies',
      '-g',
      'acme',
      '-m',
      'asynchronous',
      '-d',
      '{"name":"x"}',
    ];
    expect((await run(from, waits)).code).toBe(0);
    const moved = await run(from, ['export', 'moved.svc', '--move', '--yes']);
    expect(moved).toMatchObject({ code: 0, err: expect.stringContaining('svc export --undo') as string });
    expect(moved.err).toContain('1 operation is unfinished and will fail');
    expect(moved.out).toMatch(
      /^default is in moved\.svc: .*connections 1, .*Only its passphrase opens it\.\n$/,
    );
    const { err } = await write(from);
    expect(err).toContain('moved to another server');
    expect(err).toMatch(/\nSend it to the server .*`svc export --undo`.*\n$/);
    expect(await run(from, ['export', '--undo'])).toMatchObject({
      code: 0,
      out: '1 connection of default used here again.\n',
      err: expect.stringMatching(/not to be used any more: `svc export --move` there/) as string,
    });
    expect((await write(from)).code).toBe(0);
    expect(existsSync(join(at.folder, 'project.svc'))).toBe(false);
  }, 60_000);

  it('import tells what would come in, takes it in, and the second time leaves it alone', async () => {
    const wrong = await run(to, ['import', 'moved.svc'], 'another passphrase');
    expect(wrong).toMatchObject({ code: 1, out: '', err: expect.stringContaining('passphrase') as string });
    const planned = await run(to, ['import', 'moved.svc', '--dry-run']);
    expect(planned).toMatchObject({ code: 0, err: '' });
    expect(planned.out).toMatch(/^Would come into default: .*connections 1/);
    const none = await run(to, ['connections', 'list']);
    expect(none).toMatchObject({ code: 0, out: '', err: 'There are none.\n' });
    const came = await run(to, ['import', 'moved.svc', '--json']);
    expect(JSON.parse(came.out)).toMatchObject({ dryRun: false, created: { connections: 1, configs: 1 } });
    const again = await run(to, ['import', 'moved.svc']);
    expect(again.out).toMatch(
      /^Came into default: nothing new\.\nThere already, and left alone: .*connections 1/,
    );
    expect((await write(to)).code).toBe(0);
  }, 90_000);
});
