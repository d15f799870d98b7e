import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readContent } from '../../src/transfer/content.ts';
import { openFile, sealFile } from '../../src/transfer/envelope.ts';
import { fileVersion, type Export, type Import, type ProjectFile } from '../../src/transfer/schema.ts';
import { deploy, fault, install, manifest, type Customer, type WriteBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';

const passphrase = 'correct horse battery staple';
const signingKey = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;

describe('test/journeys/transfer', () => {
  const databases: TestDatabase[] = [];
  let from: Platform;
  let to: Platform;
  let here: TestDatabase;
  let there: TestDatabase;
  const customers: Customer[] = [];
  let file: ProjectFile;
  let chiefKey: string;

  const at = (platform: Platform, path: string): string => `/projects/${platform.projectId}${path}`;
  const exported = (body: object = {}) =>
    from.call<Export & { code?: string }>('POST', at(from, '/exports'), { passphrase, ...body });
  const imported = (body: object = {}) =>
    to.call<Import & { code?: string; issues?: { name: string }[] }>('POST', at(to, '/imports'), {
      passphrase,
      file,
      ...body,
    });
  const write = (platform: Platform, integration: string, object: string, record: object) =>
    platform.call<WriteBody>(
      'POST',
      `/write/v1/projects/${platform.projectId}/integrations/${integration}/objects/${object}`,
      { groupRef: 'acme', type: 'create', record },
    );
  const writeContact = (platform: Platform): Promise<Answer<WriteBody>> =>
    write(platform, 'hubspot-crm', 'contacts', { email: `${Math.random()}@transfer.example` });
  const feeds = ({ database }: TestDatabase) =>
    database.raw(
      `SELECT installation_id, object, kind, watermark::text FROM read_feed WHERE object <> 'ballast' ORDER BY 1, 2, 3`,
    );

  beforeAll(async () => {
    here = await createTestDatabase();
    there = await createTestDatabase();
    databases.push(here, there);
    from = await startPlatform({ databaseUrl: here.url });
    to = await startPlatform({
      databaseUrl: there.url,
      beside: from,
      env: { SVC_ENCRYPTION_KEYS: `other:${Buffer.alloc(32, 9).toString('base64')}` },
    });
    const must = async (method: string, path: string, body: object): Promise<string> => {
      const { status, text } = await from.call(method, at(from, path), body);
      if (status > 201) throw new Error(text);
      return text;
    };
    await must('POST', '/destinations', {
      name: 'd',
      type: 'webhook',
      metadata: { url: 'http://127.0.0.1:9/hook' },
      secrets: { webhookSigningKey: signingKey },
    });
    await deploy(
      from,
      manifest.replace('destination: d\n', "destination: d\n          schedule: '0 4 * * *'\n"),
    );
    const chief = { label: 'chief', scopes: ['full', 'operator', 'metrics'] };
    chiefKey = (JSON.parse(await must('POST', '/api-keys', chief)) as { key: string }).key;
    const read = { objects: { contacts: { objectName: 'contacts' } } };
    customers.push(await install(from, 'hubspot-crm', 'acme', { read }));
    customers.push(await install(from, 'salesforce-crm', 'acme'));
    await must('PUT', '/notifications', {
      routes: [{ eventTypes: ['connection.error'], destination: 'd' }],
    });
  });
  afterAll(async () => {
    await to?.stop();
    await from?.stop();
    for (const one of databases) await one.drop();
  });

  it('an export that moves waits for a renewal, ends the use of connections here, and is undone', async () => {
    await here.database.raw(
      `UPDATE connection SET refresh_lease = gen_random_uuid(), refresh_lease_until = svc_now() + interval '90 seconds'`,
    );
    const startedAt = performance.now();
    const exporting = exported({ move: true });
    await sleep(2_000);
    await here.database.raw(`UPDATE connection SET refresh_lease = NULL, refresh_lease_until = NULL`);
    expect(await exporting).toMatchObject({ status: 200, body: { warnings: [] } });
    expect(performance.now() - startedAt).toBeGreaterThan(1_500);
    const refused = await writeContact(from);
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('moved to another server');
    expect(refused.body.remedy).toContain('POST …/exports:undo');
    expect(refused.body.remedy).not.toContain(':oauth-update');
    const proxied = await fetch(`${from.proxy}/crm/v3/objects/contacts`, {
      headers: {
        'x-api-key': from.apiKey,
        'x-svc-proxy-version': '1',
        'x-svc-project-id': from.projectId,
        'x-svc-integration-name': 'hubspot-crm',
        'x-svc-group-ref': 'acme',
      },
    });
    expect(await proxied.json()).toMatchObject({ code: refused.body.code, remedy: refused.body.remedy });
    expect(await from.call('POST', at(from, '/exports:undo'))).toMatchObject({ body: { connections: 2 } });
    expect(await writeContact(from)).toMatchObject({ status: 200 });
  });

  it('the file shows what it is of and nothing of what is in it', async () => {
    await expect.poll(() => feeds(here)).toHaveLength(1);
    const warned = await exported();
    expect(warned.body.warnings).toMatchObject([
      { message: expect.stringContaining('refresh token') as string },
    ]);
    const { body, text, headers } = await exported({ move: true });
    file = body.file;
    expect(headers.get('cache-control')).toBe('no-store');
    expect(file).toMatchObject({
      version: fileVersion,
      project: 'default',
      moved: true,
      counts: { connections: 2, installations: 2, destinations: 1, providerApps: 2, reads: 1 },
    });
    for (const secret of [signingKey, 'client-secret', 'acme', '127.0.0.1:9'])
      expect(text + Buffer.from(file.data, 'base64').toString('latin1')).not.toContain(secret);
  });

  it('a dry run lists what would be imported and changes nothing', async () => {
    const { body } = await imported({ dryRun: true });
    expect(body).toMatchObject({
      dryRun: true,
      created: { connections: 2, configs: 2 },
      unchanged: { connections: 0 },
    });
    expect((await to.call<unknown[]>('GET', at(to, '/connections'))).body).toEqual([]);
  });

  it.each([
    ['another passphrase', () => ({ passphrase: 'another passphrase' }), 'export-unreadable'],
    ['a changed head', () => ({ file: { ...file, project: 'other' } }), 'export-unreadable'],
    ['a cut file', () => ({ file: { ...file, data: file.data.slice(0, -8) } }), 'export-unreadable'],
    ['a newer release', () => ({ file: { ...file, version: fileVersion + 1 } }), 'export-newer'],
  ])('%s opens nothing', async (_title, body, code) => {
    expect(await imported(body())).toMatchObject({ status: 422, body: { code } });
    expect((await to.call<unknown[]>('GET', at(to, '/connections'))).body).toEqual([]);
  });

  type Rows = Record<string, { row: string; secret?: unknown }[]>;
  let opened = '';
  const withRow = (kind: string, members: object) => (content: Rows) => {
    const [first] = content[kind] ?? [];
    if (!first) throw new Error(`the file has no ${kind}`);
    first.row = JSON.stringify({ ...(JSON.parse(first.row) as object), ...members });
  };

  const withDays = withRow('settings', { keep_days: { operations: 'x' } });

  it.each<[title: string, change: (content: Rows) => unknown, name: string]>([
    ['a list in place of kinds', () => [], ''],
    ['a kind that is none', (content) => ({ ...content, widgets: [] }), 'widgets'],
    ['a row that is no JSON', (content) => ({ ...content, groups: [{ row: '{"name"' }] }), 'groups[0]'],
    ['days that are a text', withDays, 'settings[0].keep_days.operations'],
    [
      'days that are too many',
      withRow('settings', { keep_days: { exchanges: 1e9 } }),
      'settings[0].keep_days.exchanges',
    ],
    [
      'a page of no web origin',
      withRow('settings', { allowed_origins: ['x'] }),
      'settings[0].allowed_origins[0]',
    ],
    ['a schedule that is none', withRow('reads', { schedule: '* * *' }), 'reads[0].schedule'],
    ['a time that is none', withRow('reads', { watermark: '2026-13-01T00:00:00Z' }), 'reads[0].watermark'],
    ['a status that is none', withRow('connections', { status: 'fine' }), 'connections[0].status'],
    ['a column that is none', withRow('installations', { project_id: 'x' }), 'installations[0].project_id'],
    [
      'an address that is none',
      withRow('destinations', { metadata: { url: 'x' } }),
      'destinations[0].metadata.url',
    ],
    [
      'a config that no object has',
      withRow('configs', { content: { provider: 'hubspot', read: 1 } }),
      'configs[0].content.read',
    ],
    [
      'a schedule of a config that is none',
      withRow('configs', {
        content: {
          provider: 'hubspot',
          read: { objects: { contacts: { objectName: 'contacts', schedule: '* * * * *' } } },
        },
      }),
      'configs[0].content.read.objects.contacts.schedule',
    ],
    ['a text that cannot be kept', withRow('groups', { name: 'a\u0000' }), 'groups[0].name'],
    [
      'an integration that is not there',
      withRow('installations', { integration_id: '01920000-0000-7000-8000-000000000000' }),
      'installations[0].integration_id',
    ],
    [
      'secrets that are none',
      (content) => {
        const [first] = content['connections'] ?? [];
        if (first) first.secret = { kind: 'apiKey', apiKey: 5 };
      },
      'connections[0].secret',
    ],
    [
      'a year that the database does not take',
      withRow('groups', { created_at: '2026-02-30T00:00:00Z' }),
      'groups[0].created_at',
    ],
  ])('%s is refused by its path', async (_title, change, name) => {
    opened ||= String(await openFile(file, passphrase));
    const content = JSON.parse(opened) as Rows;
    const text = Buffer.from(JSON.stringify(change(content) ?? content));
    await expect(readContent(text)).rejects.toThrow(
      expect.objectContaining({
        code: 'export-malformed',
        details: expect.objectContaining({ issues: [expect.objectContaining({ name })] }) as object,
      }) as Error,
    );
  });

  it('consumers of a file of the first version, which did not say of which groups, come in with their connections', async () => {
    const content = JSON.parse(opened) as Rows;
    content['consumers'] = [{ row: JSON.stringify({ consumer_ref: 'ada', name: 'Ada' }) }];
    const text = Buffer.from(JSON.stringify(content));
    expect(await readContent(text, 1)).not.toHaveProperty('consumers');
    await expect(readContent(text)).rejects.toThrow('consumers');
  });

  it.each<[title: string, change: (content: Rows) => unknown, says: string]>([
    ['a file that says what no export says', withDays, 'settings[0].keep_days.operations'],
    [
      'a time in a zone that the database does not know',
      withRow('groups', { created_at: '2026-06-30T12:00:00+20:00' }),
      'groups[0].created_at',
    ],
  ])('%s is refused, and nothing came in', async (_title, change, says) => {
    const { data: _data, salt: _salt, ...head } = file;
    const content = JSON.parse(opened) as Rows;
    change(content);
    const forged = await sealFile(head, JSON.stringify(content), passphrase);
    const answer = await imported({ file: forged });
    expect(answer).toMatchObject({ status: 422, body: { code: 'export-malformed' } });
    expect(answer.text).toContain(says);
    expect((await to.call<unknown[]>('GET', at(to, '/connections'))).body).toEqual([]);
  });

  it('what clashes is refused by name, and nothing came in', async () => {
    const other = await to.call<{ id: string }>('POST', at(to, '/destinations'), {
      name: 'D',
      type: 'webhook',
      metadata: { url: 'http://127.0.0.1:9/other' },
    });
    const refused = await imported();
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'import-clash', issues: [{ name: 'destinations.d' }] },
    });
    expect((await to.call<unknown[]>('GET', at(to, '/connections'))).body).toEqual([]);
    await to.call('DELETE', at(to, `/destinations/${other.body.id}`));
  });

  it('comes in whole, also for who was refused a moment before; a second import changes nothing', async () => {
    const asChief = () =>
      to.call('GET', at(to, '/connections'), undefined, { headers: { 'x-api-key': chiefKey } });
    expect((await asChief()).status).toBe(401);
    const first = await imported();
    expect((await asChief()).status).toBe(200);
    expect(first).toMatchObject({
      status: 200,
      body: { created: { ...file.counts, apiKeys: 1, settings: 0 }, warnings: [] },
    });
    const second = await imported();
    expect(second.status).toBe(200);
    expect(Object.values(second.body.created).every((count) => count === 0)).toBe(true);
    expect(second.body.unchanged).toEqual(file.counts);
    expect(await feeds(there)).toEqual(await feeds(here));
  });

  it('a write goes through without connecting again, also when the token has to be renewed', async () => {
    expect(await writeContact(to)).toMatchObject({ status: 200, body: { result: { success: true } } });
    const lead = { LastName: 'Moved', Company: 'Acme' };
    expect(await write(to, 'salesforce-crm', 'Lead', lead)).toMatchObject({ status: 200 });
    await fault(to.hubspot, { method: 'POST', fault: { kind: 'status', status: 401 } });
    expect(await writeContact(to)).toMatchObject({ status: 200 });
    expect((await writeContact(from)).status).toBe(422);
  });

  it('keys, secrets and configs are the same as before', async () => {
    const show = async (platform: Platform) => {
      const shown = await platform.call<{ secrets: object }>(
        'GET',
        at(platform, '/destinations/d?includeSecrets=true'),
      );
      return shown.body.secrets;
    };
    expect(await show(to)).toEqual(await show(from));
    const [customer] = customers;
    const path = `/integrations/hubspot-crm/installations/${customer?.installationId}`;
    const config = async (platform: Platform) =>
      (await platform.call<{ config: { content: object } }>('GET', at(platform, path))).body.config.content;
    expect(await config(to)).toEqual(await config(from));
  });

  it('a key that concerned all projects of one server concerns this project of the other', async () => {
    const scopesOf = async (platform: Platform): Promise<string[] | undefined> => {
      const { body } = await platform.call<{ label: string; scopes: string[] }[]>(
        'GET',
        at(platform, '/api-keys'),
      );
      return body.find(({ label }) => label === 'chief')?.scopes;
    };
    expect(await scopesOf(from)).toEqual(['full', 'operator', 'metrics']);
    expect(await scopesOf(to)).toEqual(['full']);
  });

  it('both sides have it in their audit logs', async () => {
    const actions = async (platform: Platform) => {
      const { body } = await platform.call<{ results: { action: string }[] }>(
        'GET',
        at(platform, '/audit-log?pageSize=100'),
      );
      return body.results.map(({ action }) => action);
    };
    expect(await actions(from)).toEqual(expect.arrayContaining(['project.exported', 'project.takenBack']));
    expect(await actions(to)).toContain('project.imported');
  });
});
