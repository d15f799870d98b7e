import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, effects, fault, install } from '../../test/customer.ts';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { startPlatform, type Platform } from '../../test/platform.ts';
import { openFolder, type Folder, type Ran } from './run.fixture.ts';

/** What `svc write` does when it is run again, under other circumstances than the first time. */
describe('cli/write-resumed', () => {
  let test: TestDatabase;
  let platform: Platform;
  let at: Folder;

  beforeAll(async () => {
    test = await createTestDatabase();
    const env = { SVC_PROVIDER_CALL_MS: '1500' };
    platform = await startPlatform({ databaseUrl: test.url, env });
    await deploy(platform);
    await install(platform, 'hubspot-crm', 'acme');
    at = await openFolder();
  }, 120_000);
  afterAll(async () => {
    await at?.close();
    await platform?.stop();
    await test?.drop();
  });

  const run = (words: string, lines: object[] = [], key = platform.apiKey): Promise<Ran> =>
    at.run(words.split(' '), {
      env: { SVC_API_URL: platform.base, SVC_API_KEY: key },
      input: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
    });
  const written = async (object: string, has: Record<string, unknown>): Promise<unknown[]> =>
    (await effects(platform.hubspot, object))
      .filter(({ fields }) => Object.entries(has).every(([name, value]) => fields[name] === value))
      .map(({ fields }) => fields);
  const companies = 'write hubspot-crm companies --group acme';

  it('says of a key that ended how it goes on, and goes on with it', async () => {
    const keys = '/projects/default/api-keys';
    const made = await platform.call<{ id: string; key: string }>('POST', keys, {
      label: 'short',
      scopes: ['write'],
    });
    const { id, key } = made.body;
    const lines = Array.from({ length: 120 }, (_, n) => ({ name: `short-${n}` }));
    const going = run(`${companies} --concurrency 1`, lines, key);
    await expect.poll(() => written('companies', { name: 'short-5' })).toHaveLength(1);
    await platform.call('PATCH', `${keys}/${id}`, { updateMask: ['active'], apiKey: { active: false } });
    const stopped = await going;
    expect(stopped).toMatchObject({ code: 3 });
    expect(stopped.err).toContain('with another one each line is written again');
    expect(stopped.err).not.toContain('svc login');
    const none = await run(companies, lines.slice(0, 1), key);
    expect(none.err).toMatch(/svc login/);
    await run(`keys enable ${id} --expires 2099-01-01`);
    expect(await run(companies, lines, key)).toMatchObject({
      code: 0,
      err: '120 lines written, 0 failed.\n',
    });
    expect(
      (await effects(platform.hubspot, 'companies')).filter(({ kind }) => kind === 'create'),
    ).toHaveLength(120);
  }, 90_000);

  it('knows a line however project, integration and object are told', async () => {
    const line = [{ name: 'told' }];
    const idOf = async (path: string) => (await platform.call<{ id: string }>('GET', path)).body.id;
    for (const to of [
      'hubspot-crm companies',
      `${await idOf('/projects/default/integrations/hubspot-crm')} companies`,
      'hubspot-crm Companies',
      `hubspot-crm companies --project ${await idOf('/projects/default')}`,
    ])
      expect(await run(`write ${to} --group acme`, line)).toMatchObject({
        code: 0,
        err: '1 line written, 0 failed.\n',
      });
    expect(await written('companies', { name: 'told' })).toHaveLength(1);
    const projectId = await idOf('/projects/default');
    const rename = (projectName: string) =>
      platform.call('PATCH', `/projects/${projectId}`, {
        updateMask: ['name'],
        project: { name: projectName },
      });
    await rename('renamed');
    for (const project of [projectId, 'renamed'])
      expect(await run(`${companies} --project ${project}`, line)).toMatchObject({ code: 0 });
    await rename('default');
    expect(await written('companies', { name: 'told' })).toHaveLength(1);
  }, 60_000);

  it('a line that timed out is of unknown outcome, and done once that is said', async () => {
    const hanging = { method: 'POST', path: '/companies', fault: { kind: 'hang' }, times: 1 };
    await fault(platform.hubspot, hanging);
    const first = await run(companies, [{ name: 'slow' }]);
    expect(first).toMatchObject({ code: 1 });
    expect(first.err).toContain('0 lines written, 0 failed, 1 of unknown outcome.');
    const [, operation = ''] = /\(operation ([\w-]+)\)/.exec(first.err) ?? [];
    await run(`operations resolve ${operation} --as applied`);
    expect(await run(companies, [{ name: 'slow' }])).toMatchObject({
      code: 0,
      err: '1 line written, 0 failed.\n',
    });
  }, 60_000);

  it('changes of one record are made in the order of their lines', async () => {
    const { out } = await run('write hubspot-crm contacts --group acme --data {"email":"order@example.com"}');
    const { recordId } = (JSON.parse(out) as { result: { recordId: string } }).result;
    const lines = Array.from({ length: 20 }, (_, n) => ({ id: recordId, firstname: `name ${n}` }));
    const update = 'write hubspot-crm contacts --group acme --type update --concurrency 20';
    expect(await run(update, lines)).toMatchObject({ code: 0, err: '20 lines written, 0 failed.\n' });
    const names = (await effects(platform.hubspot, 'contacts'))
      .filter(({ kind, id }) => kind === 'update' && id === recordId)
      .map(({ fields }) => fields['firstname']);
    expect(names).toEqual(Array.from({ length: 20 }, (_, n) => `name ${n}`));
  }, 60_000);

  it('holds later lines of a record back behind one that failed, so that no older one follows them', async () => {
    const { out } = await run('write hubspot-crm contacts --group acme --data {"email":"held@example.com"}');
    const { recordId } = (JSON.parse(out) as { result: { recordId: string } }).result;
    const lines = [
      { id: recordId, firstname: 'first' },
      { id: Number(recordId), firstname: 'second' },
    ];
    const update = 'write hubspot-crm contacts --group acme --type update';
    const refusal = { method: 'PATCH', path: '/contacts', fault: { kind: 'status', status: 400 }, times: 1 };
    await fault(platform.hubspot, refusal);
    const first = await run(update, lines);
    expect(first.err).toContain('line 2: not sent, since line 1 of the same record was not written');
    expect(first.err).toContain('0 lines written, 2 failed.');
    expect(await run(update, lines)).toMatchObject({ code: 0, err: '2 lines written, 0 failed.\n' });
    const names = (await effects(platform.hubspot, 'contacts'))
      .filter(({ kind, id }) => kind === 'update' && id === recordId)
      .map(({ fields }) => fields['firstname']);
    expect(names).toEqual(['first', 'second']);
  }, 60_000);

  it('upserts of one value are done in the order of their lines', async () => {
    const lines = Array.from({ length: 36 }, (_, n) => ({
      email: n % 2 === 0 ? `u${n % 6}@example.com` : `U${(n - 1) % 6}@Example.com`,
      firstname: `n${String(n).padStart(2, '0')}`,
    }));
    const upsert = 'write hubspot-crm contacts --group acme --type upsert --by email --concurrency 16';
    expect(await run(upsert, lines)).toMatchObject({ code: 0 });
    const made = (await effects(platform.hubspot, 'contacts')).filter(({ fields }) =>
      /^n\d\d$/.test(String(fields['firstname'])),
    );
    for (const id of new Set(made.map((one) => one.id))) {
      const names = made.filter((one) => one.id === id).map(({ fields }) => fields['firstname']);
      expect(names).toEqual(names.toSorted((one, other) => String(one).localeCompare(String(other))));
    }
    expect(made).toHaveLength(36);
  }, 60_000);

  it('a line of which nothing is kept any more is not told as one that failed', async () => {
    const line = [{ name: 'erased' }];
    expect(await run(companies, line)).toMatchObject({ code: 0 });
    const erasures = '/projects/default/erasures';
    const { id } = (await platform.call<{ id: string }>('POST', erasures, { groupRef: 'acme' })).body;
    const statusOf = async () =>
      (await platform.call<{ status: string }>('GET', `${erasures}/${id}`)).body.status;
    await expect.poll(statusOf, { timeout: 20_000 }).toBe('done');
    const again = await run(companies, line);
    expect(again).toMatchObject({ code: 1 });
    expect(again.err).toContain('0 lines written, 0 failed, 1 of unknown outcome.');
    expect(again.err).toMatch(
      /was accepted as operation [\w-]+, and what was kept of it is gone\. .*look in the provider/,
    );
  }, 60_000);
});
