import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install, type Customer } from '../../test/customer.ts';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { startPlatform, type Platform } from '../../test/platform.ts';
import { startReceiver, type Receiver } from '../../test/receiver.ts';
import { openFolder, svc, type Folder, type Ran } from './run.fixture.ts';

const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          destination: crm-updates
          schedule: "0 0 1 1 *"
          requiredFields: [{ fieldName: email }]
    write:
      objects: [{ objectName: contacts, inheritMapping: true }]
    proxy: { enabled: true }
`;

describe('cli/nouns', () => {
  let test: TestDatabase;
  let platform: Platform;
  let customer: Customer;
  let receiver: Receiver;
  let at: Folder;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    receiver = await startReceiver();
    at = await openFolder();
  }, 120_000);
  afterAll(async () => {
    await at?.close();
    await receiver?.close();
    await platform?.stop();
    await test?.drop();
  });

  const env = (): Record<string, string> => ({
    SVC_API_URL: platform.base,
    SVC_API_KEY: platform.apiKey,
    SVC_PROXY_URL: platform.proxy,
  });
  const run = (...args: string[]): Promise<Ran> => at.run(args, { env: env() });
  /** What it says with `--json`: a value for each line. */
  const json = async <Value>(...args: string[]): Promise<Value[]> => {
    const ran = await run(...args, '--json');
    expect(ran).toMatchObject({ code: 0, err: '' });
    return ran.out
      .trim()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Value);
  };
  const words = async (...args: string[]): Promise<string> => {
    const ran = await run(...args);
    if (ran.code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${ran.code}: ${ran.err}`);
    return ran.out;
  };

  it('destinations are made, tested, stopped, told of events, and deleted when somebody agrees', async () => {
    expect(await run('destinations', 'list')).toEqual({ code: 0, out: '', err: 'There are none.\n' });
    expect(await run('destinations', 'create', 'crm-updates')).toMatchObject({ code: 2 });
    await words('destinations', 'create', 'crm-updates', '--address', receiver.url);
    await json('destinations', 'create', 'other', '--metadata', `{"url":"${receiver.url}"}`);
    expect(await words('destinations', 'list')).toMatch(
      /^name +type +to .*\nother +webhook .*\ncrm-updates +webhook .*\n$/,
    );
    expect(await json('destinations', 'test', 'other')).toMatchObject([{ success: true, status: 204 }]);
    receiver.answer = 500;
    expect(await run('destinations', 'test', 'other')).toMatchObject({ code: 1 });
    receiver.answer = 204;
    expect(await json('destinations', 'disable', 'other')).toMatchObject([{ status: 'disabled' }]);
    expect(await json('destinations', 'enable', 'other')).toMatchObject([{ status: 'active' }]);
    expect(await json('destinations', 'rotate', 'other', '--overlap', '1')).toHaveLength(1);
    const moved = `${receiver.url}?moved`;
    expect(await json('destinations', 'update', 'other', '--address', moved)).toMatchObject([
      { name: 'other', metadata: { url: moved } },
    ]);
    expect(await words('destinations', 'get', 'other', '--secrets')).toContain('webhookSigningKey: whsec_');
    await words('notifications', 'add', 'other', 'connection.error', 'read.waiting');
    expect(await words('notifications', 'list')).toMatch(
      /^event +destination +by\nconnection.error +other +route\n/,
    );
    expect(await json('notifications', 'remove', 'other', 'read.waiting')).toEqual([
      { event: 'connection.error', destination: 'other', by: 'route' },
    ]);
    expect(await run('notifications', 'remove', 'other', 'read.waiting')).toMatchObject({ code: 1, out: '' });
    await words('notifications', 'remove', 'other', 'connection.error');
    expect(await run('destinations', 'delete', 'other')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Say --yes') as string,
    });
    await words('destinations', 'delete', 'other', '--yes');
  }, 90_000);

  it('a customer is connected, installed and looked at', async () => {
    await deploy(platform, manifest);
    customer = await install(platform, 'hubspot-crm', 'acme', {
      read: { objects: { contacts: { objectName: 'contacts', selectedFields: { email: true } } } },
      write: { objects: { contacts: { objectName: 'contacts' } } },
    });
    expect(await words('integrations', 'list')).toMatch(/\nhubspot-crm +hubspot /);
    expect(await words('integrations', 'get', 'hubspot-crm')).toContain('objectName: contacts');
    expect(await words('installations', 'list', '--group', 'acme')).toMatch(
      new RegExp(`\n${customer.installationId} +acme +hubspot .* healthy`),
    );
    const [found] = await json('installations', 'get', customer.installationId, '-i', 'hubspot-crm');
    expect(found).toMatchObject({ id: customer.installationId });
    const writing = '{"write":{"objects":{"contacts":{"objectName":"contacts"}}}}';
    const update = ['installations', 'update', customer.installationId, '-i', 'hubspot-crm'];
    expect(await json(...update, '--config', writing, '--part', 'write.objects')).toMatchObject([
      { id: customer.installationId, config: { content: { read: { objects: { contacts: {} } } } } },
    ]);
    const part = 'write.objects.contacts.deletionSettings';
    expect(await json(...update, '--part', part, '--config', '{"enabled":true}')).toMatchObject([
      {
        config: {
          content: {
            read: { objects: { contacts: {} } },
            write: { objects: { contacts: { objectName: 'contacts', deletionSettings: { enabled: true } } } },
          },
        },
      },
    ]);
    const contentAfter = async (path: string, value: string): Promise<unknown> => {
      const [{ config }] = (await json(...update, '--part', path, '--config', value)) as [
        { config: { content: unknown } },
      ];
      return config.content;
    };
    const enabled = (value: boolean): object => ({
      write: { objects: { contacts: { deletionSettings: { enabled: value } } } },
    });
    expect(await contentAfter(`${part}.enabled`, 'false')).toMatchObject(enabled(false));
    await writeFile(join(at.folder, 'value.json'), 'true\n');
    expect(await contentAfter(`${part}.enabled`, 'value.json')).toMatchObject(enabled(true));
    expect(await contentAfter('read.objects.contacts.schedule', '"0 5 * * *"')).toMatchObject({
      read: { objects: { contacts: { schedule: '0 5 * * *' } } },
    });
    expect(await run(...update, '--config', 'true')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--config is a boolean, not a JSON object') as string,
    });
    expect(await words('installations', 'reads', customer.installationId, '-i', 'hubspot-crm')).toContain(
      '0 5 * * *',
    );
    const reads = await words('reads', 'list', '--group', 'acme', '--status', 'idle');
    expect(reads).toMatch(new RegExp(`\n${customer.installationId} +acme +contacts +0 5 \\* \\* \\* +idle `));
    expect(await json('reads', 'list', '--status', 'paused')).toEqual([]);
    expect(await words('connections', 'list', '--provider', 'hubspot')).toContain(customer.connectionId);
    expect(await words('connections', 'get', customer.connectionId)).toContain('groupRef: acme');
    const again = await run('connections', 'reconnect', customer.connectionId);
    expect(again).toMatchObject({ code: 0, err: 'Open it in a browser within ten minutes.\n' });
    expect(again.out).toMatch(/^http:\S+\n$/);
    expect(await words('connections', 'connect', 'hubspot', '--group', 'other')).toMatch(/^http:\S+\n$/);
    expect(await run('installations', 'create', 'nothing', '--group', 'x')).toMatchObject({
      code: 1,
      out: '',
    });
    expect(await words('providers', 'search', 'crm', 'HUBSPOT')).toMatch(
      /\nhubspot +HubSpot +oauth2 +read, write/,
    );
    expect(await words('providers', 'get', 'hubspot')).toContain('displayName: HubSpot\n');
    const many = await run('providers', 'search', '--limit', '3');
    expect(many.out.trim().split('\n')).toHaveLength(4);
    expect(many.err).toBe('There are more: --limit 15.\n');
  }, 90_000);

  it('plan tells which installations lose a field, need a mapping or stop reading, and changes nothing', async () => {
    const changed = manifest.replace(
      '[{ fieldName: email }]',
      '[{ fieldName: email, mapToName: mail }, { mapToName: rank }]',
    );
    await writeFile(join(at.folder, 'fields.yaml'), changed);
    const fields = await words('plan', 'fields.yaml');
    expect(fields).toContain('hubspot-crm: 1 installation, of which\n  ! 1 loses contacts.email (acme)\n');
    expect(fields).toContain('  ! 1 needs a mapping for contacts.rank (acme)\n');
    const less = manifest
      .replace('          schedule: "0 0 1 1 *"\n', '')
      .replace(', inheritMapping: true', '')
      .replace('    proxy: { enabled: true }\n', '');
    await writeFile(join(at.folder, 'less.yaml'), less);
    // The config has a schedule of its own.
    expect(await words('plan', 'less.yaml')).toMatch(
      /\nhubspot-crm: 1 installation, of which\n {2}! 1 loses the mapped names for writes of contacts \(acme\)\n {2}! 1 may no longer call through the proxy \(acme\)\nNothing was changed\./,
    );
    await writeFile(join(at.folder, 'same.yaml'), manifest);
    expect(await words('plan', 'same.yaml')).toMatch(/\nThere is nothing to deploy\.\n?$/);
    const more = manifest.replace('0 0 1 1 *', '0 0 2 1 *');
    await writeFile(join(at.folder, 'more.yaml'), more);
    expect(await words('plan', 'more.yaml')).toContain(
      'hubspot-crm: 1 installation, none of which was found to lose or lack anything\n',
    );
    await writeFile(join(at.folder, 'gone.yaml'), manifest.replaceAll('contacts', 'companies'));
    expect(await words('plan', 'gone.yaml')).toContain(
      '  ! 1 goes on reading, until a deploy with --destructive, contacts (acme)\n',
    );
    const [gone] = await json('plan', 'gone.yaml', '--destructive');
    expect(gone).toMatchObject({
      dryRun: true,
      integrations: [
        {
          name: 'hubspot-crm',
          installations: 1,
          impacts: [
            { kind: 'stopsReading', object: 'contacts', count: 1, installations: [{ groupRef: 'acme' }] },
            { kind: 'stopsWriting', object: 'contacts', count: 1 },
          ],
        },
      ],
    });
    expect(await words('integrations', 'get', 'hubspot-crm')).toContain('objectName: contacts');
  }, 60_000);

  it('what is read is delivered, and can be delivered again', async () => {
    const [read] = await json<{ operationId: string }>('read', 'hubspot-crm', 'contacts', '--group', 'acme');
    await words('operations', 'watch', read?.operationId ?? '', '--timeout', '30');
    expect(await words('operations', 'logs', read?.operationId ?? '')).toMatch(/^time +severity +message\n/);
    await expect.poll(() => receiver.received.length, { timeout: 20_000 }).toBeGreaterThan(0);
    await expect
      .poll(() => json('deliveries', 'list', '--status', 'delivered'), { timeout: 20_000 })
      .not.toHaveLength(0);
    const [sent] = await json<{ id: string }>('deliveries', 'list', '--destination', 'crm-updates');
    expect(await words('deliveries', 'get', sent?.id ?? '', '--body')).toContain('objectName: contacts');
    await words('deliveries', 'retry', sent?.id ?? '');
    expect(await words('deliveries', 'replay', '--destination', 'crm-updates', '--dry-run')).toMatch(
      /^\d+ deliver(y|ies) would be sent again\.\n$/,
    );
    expect(await run('deliveries', 'replay', '--destination', 'crm-updates')).toMatchObject({
      code: 2,
      out: '',
    });
    const [replay] = await json<{ replayId: string }>(
      'deliveries',
      'replay',
      '--destination',
      'crm-updates',
      '--yes',
    );
    expect(await words('deliveries', 'replays')).toContain(replay?.replayId);
    await run('deliveries', 'cancel-replay', replay?.replayId ?? '');
  }, 120_000);

  it('what failed is looked at and written again', async () => {
    const data = ['--data', '{"email":"twice@example.com"}'];
    const write = ['write', 'hubspot-crm', 'contacts', '--group', 'acme', '--mode', 'asynchronous', ...data];
    await words('operations', 'watch', (await json<{ operationId: string }>(...write))[0]?.operationId ?? '');
    const [failing] = await json<{ operationId: string }>(...write);
    const id = failing?.operationId ?? '';
    expect((await run('operations', 'watch', id)).code).toBe(1);
    expect(await words('operations', 'records', id)).toMatch(/ failed +conflict: /);
    expect(await run('operations', 'resolve', id, '--as', 'applied')).toMatchObject({ code: 1, out: '' });
    expect(await words('operations', 'retry', id)).toContain('Retried in operation ');
  }, 90_000);

  it("proxy calls the provider's own API, and says whose answer it is", async () => {
    const account = ['-i', 'hubspot-crm', '-g', 'acme'];
    const page = await run('proxy', '/crm/v3/objects/contacts?limit=1', ...account);
    expect(JSON.parse(page.out)).toMatchObject({ results: [{}] });
    await writeFile(join(at.folder, 'body.json'), '{"properties":{"email":"proxied@example.com"}}');
    const made = await json('proxy', '/crm/v3/objects/contacts', ...account, '--data', '@body.json');
    expect(made).toMatchObject([{ status: 201, body: { properties: { email: 'proxied@example.com' } } }]);
    const missing = await run(
      'proxy',
      '/crm/v3/objects/contacts/0',
      '--installation',
      customer.installationId,
    );
    expect(missing).toMatchObject({ code: 1, err: 'The provider answered 404.\n' });
    const refused = await run('proxy', '/crm/v3/objects/contacts', '-i', 'hubspot-crm', '-g', 'nobody');
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('nobody') as string });
    const misled = await run('proxy', '/crm/v3/objects', ...account, '--proxy-url', platform.base);
    expect(misled).toMatchObject({
      out: '',
      err: expect.stringContaining('is the API of svc, not its proxy') as string,
    });
    expect(await run('proxy', '/x')).toMatchObject({ code: 2, out: '' });
    expect(await run('proxy', 'https://elsewhere.example/x', ...account)).toMatchObject({ code: 2, out: '' });
    expect(await run('proxy', '/x', ...account, '-H', 'nothing')).toMatchObject({ code: 2, out: '' });
  }, 90_000);

  it('mcp lets a model look, plan and, when allowed, write', async () => {
    const open = async (...args: string[]) => {
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(
        new StdioClientTransport({
          command: process.execPath,
          args: [svc, 'mcp', ...args],
          env: { PATH: process.env['PATH'] ?? '', HOME: at.folder, ...env() },
        }),
      );
      const call = async (name: string, input: Record<string, unknown>) => {
        const { content, isError } = await client.callTool({ name, arguments: input });
        const said = (content as { text: string }[])[0]?.text ?? '';
        return isError ? said : (JSON.parse(said) as Record<string, unknown>);
      };
      return { client, call };
    };
    const of = { integration: 'hubspot-crm', groupRef: 'acme' };
    const write = { ...of, object: 'contacts', type: 'create', record: { email: 'model@example.com' } };
    const { client, call } = await open();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain('write_record');
    expect(await call('list_integrations', {})).toMatchObject([{ name: 'hubspot-crm', provider: 'hubspot' }]);
    expect(await call('list_customers', { integration: 'hubspot-crm' })).toMatchObject([
      { groupRef: 'acme' },
    ]);
    expect(await call('describe_object', { ...of, object: 'contacts' })).toHaveProperty('fields.email');
    expect(await call('plan_write', write)).toHaveProperty('plan.calls');
    expect(await call('provider_get', { ...of, path: '/crm/v3/objects/contacts?limit=1' })).toMatchObject({
      status: 200,
    });
    expect(await call('write_record', write)).toContain('--allow-writes');
    expect(await call('plan_write', { ...of, object: 'contacts' })).toContain('Correct it');
    expect(await call('get_operation', { operationId: 'x' })).toMatch(/x.*\n.+/);
    expect(await call('get_operation', { operationId: '..' })).toContain('Correct the input');
    expect(await call('plan_write', { ...write, type: 'upsert' })).toContain('upsertBy');
    await client.close();
    const allowed = await open('--allow-writes');
    const { operationId } = (await allowed.call('write_record', write)) as { operationId: string };
    expect(await allowed.call('get_operation', { operationId })).toMatchObject({ status: 'success' });
    const upsert = { ...write, type: 'upsert', upsertBy: 'email' };
    expect(await allowed.call('write_record', upsert)).toMatchObject({ result: { created: false } });
    const found = { ...of, object: 'contacts', field: 'email', value: 'model@example.com' };
    expect(await allowed.call('find_record', found)).toHaveProperty('results');
    await allowed.client.close();
  }, 60_000);

  it('the audit log is listed, and taken out whole', async () => {
    const deployed = await words('audit', 'list', '--action', 'deploy.done');
    expect(deployed).toMatch(/^time +what +target +who +from\n\S+ +deploy\.done +\S+ +apiKey \S+ +127/);
    const listed = await json<{ id: string }>('audit', 'list', '--limit', '1000', '--to', '2100-01-01');
    const taken = (await words('audit', 'export', '-')).trim().split('\n');
    expect(taken.map((line) => JSON.parse(line) as unknown)).toEqual(listed);
    const exported = ['audit', 'export', 'log.csv', '--from', '2100-01-01'];
    expect(await run(...exported)).toMatchObject({ code: 0, out: '', err: 'The audit log is in log.csv.\n' });
    const path = join(at.folder, 'log.csv');
    expect(await readFile(path, 'utf8')).toMatch(/^id,time,action,[^\n]+\r\n$/);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await run(...exported)).toMatchObject({
      code: 2,
      err: expect.stringContaining('is there already'),
    });
  }, 60_000);

  it('keys are made for what they may, let nobody in when disabled, and are deleted', async () => {
    const made = await run('keys', 'create', '--label', 'reader', '--scope', 'read');
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^svc_\S+\n$/) as string });
    const reader = { ...env(), SVC_API_KEY: made.out.trim() };
    expect((await at.run(['operations', 'get', 'x'], { env: reader })).code).toBe(1);
    expect((await at.run(['keys', 'create', '--label', 'more'], { env: reader })).code).toBe(3);
    const id = /Key (\S+),/.exec(made.err)?.[1] ?? '';
    expect(await words('keys', 'list')).toMatch(new RegExp(`\n${id} +reader +read `));
    expect(await json('keys', 'disable', id)).toMatchObject([{ active: false }]);
    expect((await at.run(['operations', 'get', 'x'], { env: reader })).code).toBe(3);
    expect(await json('keys', 'enable', id)).toMatchObject([{ active: true }]);
    await words('keys', 'delete', id, '--yes');
    const own = await run('keys', 'create', '--label', 'own');
    const [, ownId = ''] = /Key (\S+),/.exec(own.err) ?? [];
    const asItself = { env: { ...env(), SVC_API_KEY: own.out.trim() } };
    expect(await at.run(['keys', 'disable', ownId], asItself)).toMatchObject({
      code: 2,
      err: expect.stringContaining('This is the key of this command') as string,
    });
    expect(await at.run(['keys', 'disable', ownId, '--yes'], asItself)).toMatchObject({ code: 0 });
    expect((await at.run(['keys', 'list'], asItself)).code).toBe(3);
    expect(await run('keys', 'create', '--label', 'x', '--expires', 'soon')).toMatchObject({ code: 2 });
  }, 90_000);
});
