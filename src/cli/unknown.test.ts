import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, effects, fault, install } from '../../test/customer.ts';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { startPlatform, type Platform } from '../../test/platform.ts';
import { openFolder, type Folder, type Ran } from './run.fixture.ts';

describe('cli/unknown', () => {
  let test: TestDatabase;
  let platform: Platform;
  let at: Folder;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    await install(platform, 'hubspot-crm', 'acme');
    at = await openFolder();
  }, 120_000);
  afterAll(async () => {
    await at?.close();
    await platform?.stop();
    await test?.drop();
  });

  const run = (words: string, input = ''): Promise<Ran> =>
    at.run(words.split(' '), {
      env: { SVC_API_URL: platform.base, SVC_API_KEY: platform.apiKey },
      input,
    });
  const names = ['lost-a', 'lost-b', 'kept'];
  const input = names.map((name) => `${JSON.stringify({ name })}\n`).join('');
  const write = (rest = ''): Promise<Ran> =>
    run(`write hubspot-crm companies --group acme --concurrency 1${rest}`, input);
  const made = async (name: string): Promise<number> =>
    (await effects(platform.hubspot, 'companies')).filter(
      ({ kind, fields }) => kind === 'create' && fields['name'] === name,
    ).length;
  const settle =
    'Lines whose outcome is unknown are not tried anew until it is settled: `svc operations list --unresolved` lists their operations. ' +
    'Look at `svc operations get`: while it is in progress, the record is still being looked for. ' +
    'Once it has ended, look at the record in the provider and say so with `svc operations resolve`. Then run the command again.';

  it('lines of unknown outcome are told apart, and count as done or are tried anew once they are resolved', async () => {
    const lost = { method: 'POST', path: '/companies', fault: { kind: 'reset-after' }, times: 2 };
    await fault(platform.hubspot, lost);
    const first = await write();
    expect(first).toMatchObject({ code: 1, out: expect.any(String) as string });
    expect(first.err).toContain(`1 line written, 0 failed, 2 of unknown outcome.\n${settle}\n`);
    const ids = [...first.err.matchAll(/^line \d: .*\(operation ([\w-]+)\)$/gm)].map(([, id = '']) => id);
    expect(ids).toHaveLength(2);
    const again = await write(' --json');
    expect(JSON.parse(again.err.trim().split('\n').at(-1) ?? '')).toEqual({
      error: {
        message: '1 line written, 0 failed, 2 of unknown outcome.',
        remedy: settle,
        code: 'refused',
        written: 1,
        failed: 0,
        unknown: 2,
      },
    });
    const [a = '', b = ''] = ids;
    const outcome = async (id: string): Promise<string> => (await run(`operations records ${id}`)).out;
    expect(await outcome(a)).toMatch(/^0 .* unknown {2,}unknownOutcome: /m);
    await run(`operations resolve ${a} --as applied`);
    await run(`operations resolve ${b} --as notApplied`);
    expect(await outcome(a)).toContain('unknown, resolved as applied');
    expect(await outcome(b)).toContain('unknown, resolved as notApplied');
    expect(await write()).toMatchObject({ code: 0, err: '3 lines written, 0 failed.\n' });
    // What the provider did before its answer was lost, and the line that somebody said was not done.
    expect(await Promise.all(names.map(made))).toEqual([1, 2, 1]);
    expect((await write()).code).toBe(0);
    expect(await Promise.all(names.map(made))).toEqual([1, 2, 1]);
  }, 90_000);

  it('a file with a line that fails and one of unknown outcome says what to do about each', async () => {
    await fault(platform.hubspot, { method: 'POST', path: '/companies', fault: { kind: 'reset-after' } });
    const lines = '{"name":"both"}\n{"nonsense":1}\n';
    const ran = await run('write hubspot-crm companies --group acme --concurrency 1', lines);
    expect(ran.err).toContain(
      `0 lines written, 1 failed, 1 of unknown outcome.\nMend what the others failed of and run the command again: they are tried anew, and what was done is not done twice. ${settle}\n`,
    );
  }, 60_000);

  it('a write of one record that is interrupted says that it may have been done, and how to find out', async () => {
    const slow = { method: 'POST', path: '/companies', fault: { kind: 'delay', ms: 3_000 }, times: 1 };
    await fault(platform.hubspot, slow);
    const command = ['write', 'hubspot-crm', 'companies', '-g', 'acme', '-d', '{"name":"slow"}', '--json'];
    const env = { SVC_API_URL: platform.base, SVC_API_KEY: platform.apiKey };
    const { code, out, err } = await at.run(command, {
      env,
      started: (child) => void setTimeout(() => child.kill('SIGINT'), 1_500),
    });
    expect({ code, out }).toEqual({ code: 130, out: '' });
    const { error } = JSON.parse(err) as { error: { remedy: string; idempotencyKey: string } };
    expect(error).toMatchObject({
      message: 'Interrupted: the write may have been done.',
      remedy: expect.stringContaining('`svc operations list -g acme` tells whether it was.') as string,
      code: 'interrupted',
    });
    await expect.poll(() => made('slow'), { timeout: 20_000 }).toBe(1);
    const again = await at.run([...command, '--idempotency-key', error.idempotencyKey], { env });
    expect(again.code).toBe(0);
    expect(await made('slow')).toBe(1);
  }, 60_000);
});
