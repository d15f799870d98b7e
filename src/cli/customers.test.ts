import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, fault, install, simulator, type Customer } from '../../test/customer.ts';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { startPlatform, type Platform } from '../../test/platform.ts';
import { openFolder, type Folder, type Ran } from './run.fixture.ts';

const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          destination: crm-updates
          schedule: "0 0 1 1 *"
          optionalFieldsAuto: all
        - objectName: companies
          destination: crm-updates
          schedule: "0 0 1 1 *"
          optionalFieldsAuto: all
    write:
      objects: [{ objectName: companies, inheritMapping: true }]
`;

describe('cli/customers', () => {
  const all = (objectName: string) => ({ objectName, selectedFieldsAuto: 'all' as const });
  let test: TestDatabase;
  let platform: Platform;
  let customer: Customer;
  let at: Folder;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    at = await openFolder();
    await platform.call('POST', '/projects/default/destinations', {
      name: 'crm-updates',
      type: 'webhook',
      metadata: { url: 'http://127.0.0.1:9/hooks' },
    });
    await deploy(platform, manifest);
    customer = await install(platform, 'hubspot-crm', 'acme', {
      read: { objects: { contacts: all('contacts'), companies: all('companies') } },
      write: { objects: { companies: { objectName: 'companies' } } },
    });
  }, 120_000);
  afterAll(async () => {
    await at?.close();
    await platform?.stop();
    await test?.drop();
  });

  const run = (args: string, input = ''): Promise<Ran> =>
    at.run(args.split(' '), {
      env: { SVC_API_URL: platform.base, SVC_API_KEY: platform.apiKey },
      input,
    });
  /** What it says with `--json`: a value for each line. */
  const json = async (args: string, input = ''): Promise<Record<string, unknown>[]> => {
    const ran = await run(`${args} --json`, input);
    expect(ran).toMatchObject({ code: 0, err: '' });
    return ran.out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  };

  it('reads are paused, whole or by object, and go on', async () => {
    const of = `${customer.installationId} -i hubspot-crm`;
    const paused = async (): Promise<unknown[]> =>
      (await json('reads list --status paused')).map((read) => [read['objectName'], read['paused']]);
    expect(await run(`reads pause ${of} --object contacts --note asked`)).toMatchObject({
      code: 0,
      out: 'contacts: paused. svc reads unpause lets it go on.\n',
    });
    expect(await paused()).toEqual([['contacts', expect.objectContaining({ note: 'asked' }) as unknown]]);
    await json(`reads pause ${of}`);
    expect(await paused()).toHaveLength(2);
    await json(`reads unpause ${of} --object contacts`);
    expect((await paused()).map((one) => (one as unknown[])[0])).toEqual(['companies']);
    await json(`reads unpause ${of}`);
    expect(await paused()).toEqual([]);
  }, 60_000);

  it('operations are found by what was done, and by what nobody knows of them', async () => {
    await fault(platform.hubspot, { path: '/companies', fault: { kind: 'reset-after' }, times: 1 });
    await customer.write('companies', { type: 'create', record: { name: 'Unknown' } });
    await customer.write('companies', { type: 'create', record: { name: 'Known' } });
    const [unresolved, ...more] = await json('operations list --unresolved --action write');
    expect(unresolved).toMatchObject({ actionType: 'write', counts: { unknown: 1 } });
    expect(more).toEqual([]);
    expect(await json('operations list --action write')).toHaveLength(2);
    expect(await json('operations list --action read')).toEqual([]);
    const id = String(unresolved?.['id']);
    await json(`operations resolve ${id} --as notApplied`);
    expect(await json('operations list --unresolved')).toEqual([]);
    const resolved = 'what was unknown is resolved: svc operations records tells how';
    expect((await run(`operations get ${id}`)).out).toContain(resolved);
    const [again] = await json(`operations retry ${id}`);
    const written = `what failed is written again by ${String(again?.['operationId'])}`;
    expect((await run(`operations get ${id}`)).out).toContain(written);
  }, 60_000);

  it('a batch of which some records failed is found, and retried, by that', async () => {
    const there = await customer.write('companies', { type: 'create', record: { name: 'There' } });
    const batch = ['99999999', there.body.result?.recordId].map((id) => ({ record: { id, name: 'Again' } }));
    const { body } = await customer.write('companies', { type: 'update', batch });
    const found = await json('operations list --partly-done');
    expect(found).toMatchObject([{ id: body.operationId, status: 'success', counts: { failed: 1 } }]);
    expect(await run('operations retry --partly-done --dry-run')).toMatchObject({
      code: 0,
      out: '1 operation would be retried.\n',
    });
    expect(await run('operations retry')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--partly-done, --category') as string,
    });
  }, 60_000);

  it('a provider app is told of, gets another secret, and is deleted when nobody uses it', async () => {
    const [made] = await json(
      'provider-apps create salesforce --client-id 3MVG9 --scope api --scope refresh_token',
      'first secret\n',
    );
    expect(made).toMatchObject({
      provider: 'salesforce',
      clientId: '3MVG9',
      scopes: ['api', 'refresh_token'],
    });
    expect(JSON.stringify(made)).not.toContain('first secret');
    const id = String(made?.['id']);
    expect((await run('provider-apps list')).out).toMatch(
      new RegExp(`\n${id} +salesforce +3MVG9 +api, refresh_token +(yes|no)\n`),
    );
    expect(await run('provider-apps create salesforce --client-id 3MVG9', 'x')).toMatchObject({
      code: 1,
      err: expect.stringContaining(`${id}.\nChange it with \`svc provider-apps update\``) as string,
    });
    expect(await json(`provider-apps update ${id} --client-id 3MVG8 --default`)).toMatchObject([
      { clientId: '3MVG8', scopes: ['api', 'refresh_token'], isDefault: true },
    ]);
    expect(await json(`provider-apps update ${id} --new-secret`, 'second secret')).toMatchObject([{ id }]);
    expect(await json('audit list --action providerApp.updated --limit 1')).toMatchObject([
      { target: { id }, details: { changed: ['clientSecret'] } },
    ]);
    expect(await run(`provider-apps delete ${id}`)).toMatchObject({
      code: 2,
      err: expect.stringContaining('Say --yes') as string,
    });
    await json(`provider-apps delete ${id} --yes`);
    expect((await run('provider-apps list')).out).not.toContain(id);
  }, 60_000);

  /** Has an account of the group connected with tokens at hand. */
  async function generate(groupRef: string): Promise<Record<string, unknown> | undefined> {
    const issued = await simulator<{ accessToken: string }>(platform.hubspot, 'POST', '/tokens', {
      action: 'issue',
      clientId: 'client-hubspot',
    });
    const tokens = {
      oauth2AuthorizationCode: { accessToken: { token: issued.accessToken }, scopes: ['oauth'] },
    };
    await writeFile(join(at.folder, 'credentials.json'), JSON.stringify(tokens));
    const account = `hubspot --group ${groupRef} --consumer ada`;
    const [made] = await json(`connections generate ${account} --credentials @credentials.json`);
    return made;
  }

  it('an account is connected with credentials at hand, and deleted', async () => {
    const made = await generate('moved');
    expect(made).toMatchObject({
      provider: 'hubspot',
      group: { groupRef: 'moved' },
      consumer: { consumerRef: 'ada' },
    });
    const id = String(made?.['id']);
    const found = await json('connections list --status working --group moved');
    expect([...found, ...(await json('connections list --status created --group moved'))]).toMatchObject([
      { id },
    ]);
    expect(await json('connections list --status bad_credentials')).toEqual([]);
    expect(await run(`connections delete ${id}`)).toMatchObject({ code: 2 });
    expect(await run(`connections delete ${id} --yes`)).toMatchObject({
      code: 0,
      out: 'Deleted the connection of moved to hubspot.\n',
    });
    expect(await run(`connections get ${id}`)).toMatchObject({ code: 1, out: '' });
  }, 60_000);

  it('an installation without a config has all that the integration declares, and takes its connection along', async () => {
    const connectionId = String((await generate('whole'))?.['id']);
    const created = await run('installations create hubspot-crm --group whole');
    expect(created).toMatchObject({ code: 0, err: '' });
    expect(created.out).toMatch(
      /^Installation [\w-]+ for whole\.\n {2}Without --config it has all that hubspot-crm declares: reads companies, contacts; writes companies\.\n/,
    );
    const [, id = ''] = /^Installation ([\w-]+)/.exec(created.out) ?? [];
    const reads = await json(`installations reads ${id} -i hubspot-crm`);
    expect(reads.map(({ objectName }) => String(objectName)).toSorted()).toEqual(['companies', 'contacts']);
    const goes = `Its connection ${connectionId} goes, too: nothing else uses it.`;
    expect(await run(`installations delete ${id} -i hubspot-crm`)).toMatchObject({
      code: 2,
      err: expect.stringContaining(goes) as string,
    });
    expect(await run(`installations delete ${id} -i hubspot-crm --yes`)).toMatchObject({
      code: 0,
      out: `Deleted the installation of hubspot-crm for whole, and its connection ${connectionId}.\n`,
    });
    expect(await run(`connections get ${connectionId}`)).toMatchObject({ code: 1 });
    await generate('whole');
    const [bare] = await json(`installations create hubspot-crm -g whole --config {"provider":"hubspot"}`);
    expect(bare).toMatchObject({ config: { content: { provider: 'hubspot' } } });
    expect(bare?.['config']).not.toHaveProperty('content.read');
    await run(`installations delete ${String(bare?.['id'])} -i hubspot-crm --yes`);
  }, 60_000);

  it('an installation is found by how it does, and deleted', async () => {
    const { installationId: id, connectionId } = customer;
    expect(await json('installations list --health healthy')).toMatchObject([{ id }]);
    await json(`connections delete ${connectionId} --yes`);
    expect(await json('installations list --health healthy')).toEqual([]);
    expect(await json('installations list --health unhealthy -i hubspot-crm')).toMatchObject([{ id }]);
    expect(await run(`installations delete ${id} -i hubspot-crm --yes`)).toMatchObject({
      code: 0,
      out: 'Deleted the installation of hubspot-crm for acme.\n',
    });
    expect(await json('installations list')).toEqual([]);
  }, 60_000);
});
