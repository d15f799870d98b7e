import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { deploy, effects, fault, install, manifest, simulator, type Customer } from '../../test/customer.ts';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { freePort } from '../../test/free-port.ts';
import { startPlatform, type Platform } from '../../test/platform.ts';
import { openFolder, type Folder, type Ran } from './run.fixture.ts';

/** `npm run test:write-killed` writes 10,000. */
const many = Number(process.env['WRITE_LINES'] ?? 300);
const goOn = 'Run the same command again to go on: what was done is not done twice.';

describe('cli/commands', () => {
  let test: TestDatabase;
  let platform: Platform;
  let customer: Customer;
  let at: Folder;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'acme', {
      write: {
        objects: {
          contacts: { objectName: 'contacts', inheritMapping: false, deletionSettings: { enabled: true } },
        },
      },
    });
  }, 120_000);
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });
  beforeEach(async () => {
    at = await openFolder({ 'svc.yaml': manifest, 'broken.yaml': 'specVersion: [1\n' });
  });
  afterEach(() => at.close());

  const env = () => ({ SVC_API_URL: platform.base, SVC_API_KEY: platform.apiKey });
  const run = (...args: string[]): Promise<Ran> => at.run(args, { env: env() });
  const toContacts = ['write', 'hubspot-crm', 'contacts', '--group', 'acme'];
  const data = (email: string): string => JSON.stringify({ email });
  const linesOf = (count: number, name: string): string =>
    Array.from({ length: count }, (_, n) => `${data(`${name}-${n}@example.com`)}\n`).join('');
  const created = async (name: string): Promise<number> =>
    (await effects(platform.hubspot, 'contacts')).filter(
      ({ kind, fields }) => kind === 'create' && String(fields['email']).startsWith(`${name}-`),
    ).length;

  it('login keeps a key that the server knows, where nobody else can read it, and logout forgets it', async () => {
    const key = { input: `${platform.apiKey}\n` };
    const wrong = await at.run(['login', '--url', platform.base], { input: 'svc_x_y' });
    expect(wrong).toMatchObject({ code: 3, out: '' });
    expect(wrong.err).toContain('Run `svc login` with a valid API key, or set SVC_API_KEY.');
    const unknown = await at.run(['login', '--url', platform.base, '--project', 'nobody'], key);
    expect(unknown).toMatchObject({ code: 1, err: expect.stringContaining('nobody') as string });
    expect(await at.run(['login', '--url', platform.base], { input: ' ' })).toEqual({
      code: 2,
      out: '',
      err: 'No API key was given.\nType it when asked, or pipe it in: svc login < key.txt\n',
    });
    expect(await at.run(['login', '--url', platform.base], key)).toEqual({
      code: 0,
      out: `Logged in to ${platform.base}, project default (profile default).\n`,
      err: '',
    });
    const { mode } = await stat(join(at.folder, '.config/svc/profiles.json'));
    expect(mode & 0o777).toBe(0o600);
    expect((await at.run([...toContacts, '--data', data('login@example.com')])).code).toBe(0);
    // The key goes to no other server than the one that it was kept for.
    const elsewhere = await at.run([...toContacts, '--url', 'http://127.0.0.1:9', '--data', '{}']);
    expect(elsewhere).toMatchObject({
      code: 3,
      err: expect.stringContaining('no API key for http://127.0.0.1:9') as string,
    });
    expect((await at.run(['logout'])).code).toBe(0);
    expect((await at.run(['logout'])).code).toBe(1);
  }, 60_000);

  it('validate tells every fault with its line, a caret and a remedy, without a server', async () => {
    expect(await at.run(['validate'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/svc\.yaml is valid: 3 integrations, \d+ warnings?\.\n$/) as string,
    });
    await writeFile(
      join(at.folder, 'wrong.yaml'),
      manifest
        .replace('objectName: companies', 'objektName: companies')
        .replace('provider: salesforce', 'provider: salesfroce'),
    );
    const wrong = await at.run(['validate', 'wrong.yaml']);
    expect(wrong).toMatchObject({ code: 1, err: '' });
    expect(wrong.out).toContain('Did you mean objectName?');
    expect(wrong.out).toContain('Did you mean salesforce?');
    expect(wrong.out).toMatch(/^ +\d+ \| +- objektName: companies\n +\| +\^/m);
    const json = await at.run(['validate', 'wrong.yaml', '--json']);
    expect(JSON.parse(json.out)).toMatchObject({ valid: false, errors: [{ line: 18 }, {}, {}] });
    expect(await at.run(['validate', 'broken.yaml'])).toMatchObject({
      code: 1,
      err: '',
      out: expect.stringContaining('broken.yaml:2:1 error:') as string,
    });
  }, 60_000);

  it('deploy says what changes, and ends nothing unasked', async () => {
    const more = manifest.replace('        - objectName: companies\n', '        - objectName: deals\n');
    await writeFile(join(at.folder, 'svc.yaml'), more);
    const preview = await run('deploy', '--dry-run');
    expect(preview).toMatchObject({ code: 0, err: '' });
    expect(preview.out).toContain('hubspot-crm (hubspot): updated\n  + write.deals\n  - write.companies\n');
    const unasked = await run('deploy', '--destructive');
    expect(unasked).toMatchObject({ code: 2, out: '' });
    expect(unasked.err).toContain(
      'Nothing was deployed. Nobody can be asked here: this is no terminal. This ends for every installation: hubspot-crm: write.companies.\n',
    );
    const deployed = await run('deploy', '--destructive', '--yes', '--json');
    expect(deployed).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(deployed.out)).toHaveLength(3);
    await writeFile(join(at.folder, 'svc.yaml'), manifest);
    expect((await run('deploy')).out).toMatch(/\nDeployed svc\.yaml\.\n$/);
    expect(await run('deploy', 'broken.yaml')).toMatchObject({ code: 1, out: '' });
    expect(await run('deploy', '--project', 'nobody')).toMatchObject({ code: 1, out: '' });
  }, 90_000);

  it('operations lists, gets and waits for operations', async () => {
    const accepted = await run(
      ...toContacts,
      '--mode',
      'asynchronous',
      '--data',
      data('watch@example.com'),
      '--json',
    );
    const { operationId } = JSON.parse(accepted.out) as { operationId: string };
    const watched = await run('operations', 'watch', operationId, '--timeout', '30');
    expect(watched).toMatchObject({ code: 0, err: '' });
    expect(watched.out).toContain(`${operationId}  write contacts: success\n`);
    const failing = await run(
      ...toContacts,
      '--mode',
      'asynchronous',
      '--data',
      '{"email":"watch@example.com"}',
      '--json',
    );
    const { operationId: failed } = JSON.parse(failing.out) as { operationId: string };
    expect((await run('operations', 'watch', failed)).code).toBe(1);
    expect((await run('operations', 'get', failed)).out).toContain('conflict');
    // Exchanges are kept in batches, a moment after the outcome.
    const sent = await vi.waitUntil(
      async () => (await run('operations', 'exchanges', failed, '--json')).out.split('\n')[0],
      { timeout: 10_000 },
    );
    expect(JSON.parse(sent)).toMatchObject({
      request: { method: 'POST', body: expect.stringContaining('watch@example.com') as string },
      answer: { status: 409 },
    });
    const failures = await run(
      'operations',
      'list',
      '--status',
      'failure',
      '--category',
      'conflict',
      '--json',
    );
    expect(failures.out).toContain(failed);
    expect(failures.out).not.toContain(operationId);
    const list = ['operations', 'list', '--installation', customer.installationId];
    const listed = await run(...list, '--limit', '2', '--json');
    const ids = listed.out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id);
    expect(ids).toEqual([failed, operationId]);
    expect(await run('operations', 'get', 'nothing')).toMatchObject({ code: 1, out: '' });
  }, 90_000);

  it('operations cancels and retries what is found, once it was counted and asked for', async () => {
    const from = new Date().toISOString();
    const status = { kind: 'status', status: 429, headers: { 'retry-after': '15' } };
    await fault(platform.hubspot, { path: '/contacts', fault: status, times: 100 });
    const queued = await at.run([...toContacts, '--mode', 'asynchronous'], {
      env: env(),
      input: linesOf(2, 'found'),
    });
    expect(queued.code).toBe(0);
    const found = ['--object', 'contacts', '--from', from];
    const dry = async () => (await run('operations', 'cancel', ...found, '--dry-run')).out;
    await expect.poll(dry, { timeout: 10_000 }).toBe('2 operations would be canceled.\n');
    expect(await run('operations', 'cancel', ...found)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('This ends, unsent, what waits of 2 operations.\nSay --yes') as string,
    });
    const canceled = await run('operations', 'cancel', ...found, '--yes');
    expect(canceled).toEqual({ code: 0, out: '2 operations canceled.\n', err: '' });
    await simulator(platform.hubspot, 'DELETE', '/faults');
    const counted = await run('operations', 'retry', ...found, '--dry-run', '--json');
    expect(JSON.parse(counted.out)).toEqual({ count: 2, before: 0, refused: 0, countIsComplete: true });
    expect(await created('found')).toBe(0);
    const retried = await run('operations', 'retry', ...found, '--yes', '--json');
    expect(retried.out.match(/"retriedBy"/g)).toHaveLength(2);
    await expect.poll(() => created('found'), { timeout: 40_000 }).toBe(2);
  }, 90_000);

  it('write writes one record, tells a dry run, and says why it was refused', async () => {
    const written = await run(...toContacts, '--data', data('one@example.com'));
    expect(JSON.parse(written.out)).toMatchObject({ result: { success: true } });
    const byEmail = [
      '--type',
      'upsert',
      '--by',
      'email',
      '--data',
      '{"email":"one@example.com","city":"Paris"}',
    ];
    expect(JSON.parse((await run(...toContacts, ...byEmail)).out)).toMatchObject({
      result: { created: false },
    });
    const planned = await run(...toContacts, '--data', data('one@example.com'), '--dry-run');
    expect(JSON.parse(planned.out)).toHaveProperty('plan.calls');
    const refused = await run(...toContacts, '--data', data('one@example.com'), '--json');
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(JSON.parse(refused.err)).toMatchObject({ error: { code: 'provider-refused', status: 422 } });
    const wrong: [string[], number, string][] = [
      [['--data', '{email}'], 2, '--data is not JSON'],
      [['--data', '[]'], 2, '--data is an array, not a JSON object'],
      [['--data', '{}', '--file', 'x'], 2, '--data and --file exclude one another.'],
      [['--file', 'nothing.ndjson'], 2, 'nothing.ndjson cannot be read'],
      [['--data', '{}', '--type', 'make'], 2, 'Give one of create, update, upsert, delete.'],
      [['--data', '{}', '--type', 'upsert'], 2, '--by belongs to --type upsert'],
      [['--data', '{}', '--by', 'email'], 2, '--by belongs to --type upsert'],
      [['--data', '{}', '--project', 'nobody'], 1, 'nobody'],
      [['--data', '{}', '--url', 'nowhere'], 2, '--url is nowhere, which is not the address of a server.'],
    ];
    for (const [args, code, err] of wrong)
      expect(await run(...toContacts, ...args)).toMatchObject({
        code,
        out: '',
        err: expect.stringContaining(err) as string,
      });
  }, 120_000);

  it('write takes lines, tells of those that fail, and does none twice however often it is run', async () => {
    const input = `${linesOf(3, 'lines')}not json\n\n${data('lines-0@example.com')}\n`;
    const first = await at.run([...toContacts, '--json', '--concurrency', '1'], { env: env(), input });
    expect(first.code).toBe(1);
    expect(first.out.trim().split('\n')).toHaveLength(3);
    // The last line is the first one once more, and a write of its own.
    expect(
      first.err
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { error: object }).error),
    ).toMatchObject([
      { line: 4, message: expect.stringMatching(/^it is not JSON/) as string },
      { line: 6, category: 'conflict', operationId: expect.any(String) as string },
      { written: 3, failed: 2 },
    ]);
    const again = await at.run([...toContacts, '--concurrency', '1'], { env: env(), input });
    expect(again).toMatchObject({
      code: 1,
      err: expect.stringContaining('3 lines written, 2 failed.\n') as string,
    });
    expect(await created('lines')).toBe(3);
    expect(again.err).toContain('line 4: it is not JSON');
    expect(again.err).toMatch(/line 6: error writing contacts: conflict.* \(operation [\w-]+\)/);
    expect(await at.run(toContacts, { env: env(), input: '\n' })).toMatchObject({
      code: 2,
      err: expect.stringContaining('There is no record to write') as string,
    });
    const another = await at.run([...toContacts, '--run', '2'], { env: env(), input: linesOf(3, 'lines') });
    expect(another.err).toContain('0 lines written, 3 failed.');
    const lines = linesOf(1, 'lines') + 'no\n'.repeat(30);
    const bad = await at.run([...toContacts, '--concurrency', '1'], { env: env(), input: lines });
    expect(bad.err).toMatch(
      /\nline 21: .*\nOf further .*\nFailed, too: lines 22-31\. .*\n1 line written, 30 failed/,
    );
  }, 60_000);

  it('a line that failed is written by the same command once what it failed of is mended', async () => {
    const line = `${JSON.stringify({ email: 'mended-0@example.com', favourite_colour: 'blue' })}\n`;
    const accepted =
      'Accepted is not done: svc operations list --unresolved and --status failure name the operations that went wrong, and the same command with --json tells the operation of each line, and writes nothing twice.';
    const queued = [...toContacts, '--mode', 'asynchronous'];
    const failed = await at.run(queued, { env: env(), input: line });
    expect(failed).toMatchObject({ code: 0, err: `1 line accepted, 0 failed.\n${accepted}\n` });
    const ended = ['operations', 'list', '--status', 'failure', '--object', 'contacts', '--json'];
    await expect
      .poll(async () => (await run(...ended)).out, { timeout: 20_000 })
      .toContain('favourite_colour');
    const wrong = await at.run(toContacts, { env: env(), input: line });
    expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining('favourite_colour') as string });
    await fetch(`${platform.hubspot}/__sim/schema`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        object: 'contacts',
        properties: [{ name: 'favourite_colour', type: 'string' }],
      }),
    });
    expect(await at.run(toContacts, { env: env(), input: line })).toMatchObject({
      code: 0,
      err: '1 line written, 0 failed.\n',
    });
    expect(await created('mended')).toBe(1);
    expect((await at.run(toContacts, { env: env(), input: line })).code).toBe(0);
    expect(await created('mended')).toBe(1);
  }, 90_000);

  it(
    'write that is killed twice or interrupted does each line once when it goes on, and says how',
    async () => {
      // At its limit HubSpot would take 10,000 in 17 minutes.
      if (many > 1_000) await simulator(platform.hubspot, 'POST', '/quotas', { burstMax: null });
      await writeFile(join(at.folder, 'many.ndjson'), linesOf(many, 'many'));
      const command = [...toContacts, '--file', 'many.ndjson', '--mode', 'asynchronous', '--json'];
      const endedBy = (signal: NodeJS.Signals, after: number): Promise<Ran> =>
        at.run(command, {
          env: env(),
          started: (child) => {
            let lines = 0;
            child.stdout?.on('data', (chunk: Buffer) => {
              lines += chunk.toString().split('\n').length - 1;
              if (lines >= after) child.kill(signal);
            });
          },
        });
      for (const after of [many / 10, many / 5])
        expect((await endedBy('SIGKILL', after)).out.split('\n').length).toBeLessThan(many);
      const interrupted = await endedBy('SIGINT', many / 15);
      expect(interrupted.code).toBe(130);
      expect(JSON.parse(interrupted.err)).toMatchObject({
        error: {
          message: expect.stringMatching(/^Interrupted\. \d+ lines accepted, 0 failed\.$/) as string,
          remedy: goOn,
        },
      });
      const closed = await at.run(command, {
        env: env(),
        started: (child) => child.stdout?.once('data', () => child.stdout?.destroy()),
      });
      expect(closed).toMatchObject({
        code: 1,
        err: expect.stringContaining('The output was closed.') as string,
      });
      const finished = await at.run(command, { env: env() });
      expect(finished).toMatchObject({
        code: 0,
        err: expect.stringContaining(`${many} lines accepted, 0 failed.\n`) as string,
      });
      await expect.poll(() => created('many'), { timeout: 100 * many }).toBe(many);
      const { out } = await at.run(command, { env: env() });
      expect(
        new Set(
          out
            .trim()
            .split('\n')
            .map((line) => (JSON.parse(line) as { operationId: string }).operationId),
        ).size,
      ).toBe(many);
    },
    150_000 + 300 * many,
  );

  it('a server that is away ends a command with one sentence and one remedy', async () => {
    const away = { ...env(), SVC_API_URL: `http://127.0.0.1:${await freePort()}` };
    for (const args of [['operations', 'get', 'x'], ['deploy'], [...toContacts, '--data', '{}']])
      expect(await at.run(args, { env: away })).toMatchObject({
        code: 4,
        out: '',
        err: expect.stringMatching(
          /^http:\S+ gave no answer: .*ECONNREFUSED.*\.\nCheck that svc runs, and its address: .*\n$/,
        ) as string,
      });
  }, 90_000);

  it('what reads no further ends a list without a word', async () => {
    const list = ['operations', 'list', '--installation', customer.installationId, '--limit', '1000'];
    const cut = await at.run(list, { env: env(), started: (child) => child.stdout?.destroy() });
    expect(cut).toEqual({ code: 0, out: '', err: '' });
    const audit = ['audit', 'export'];
    const cutOff = await at.run(audit, { env: env(), started: (child) => child.stdout?.destroy() });
    expect(cutOff).toEqual({ code: 0, out: '', err: '' });
  }, 30_000);
});
