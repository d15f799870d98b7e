import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFile } from '../../src/transfer/envelope.ts';
import type { Export, Import, ProjectFile } from '../../src/transfer/schema.ts';
import { deploy, fault, install, type Customer, type WriteBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';

const passphrase = 'correct horse battery staple';

describe('test/journeys/transfer-back', () => {
  const databases: TestDatabase[] = [];
  let home: Platform;
  let away: Platform;
  let thereDatabase: TestDatabase;
  let acme: Customer;
  let left: Customer;
  const keys: Record<string, { id: string; key: string }> = {};
  /** Of the move from home, and of the move back. */
  let out: ProjectFile;
  let back: ProjectFile;

  const at = (platform: Platform, path: string): string => `/projects/${platform.projectId}${path}`;
  async function exported(platform: Platform, move: boolean): Promise<ProjectFile> {
    const { status, body, text } = await platform.call<Export>('POST', at(platform, '/exports'), {
      passphrase,
      move,
    });
    if (status !== 200) throw new Error(text);
    return body.file;
  }
  const imported = (platform: Platform, file: ProjectFile, dryRun = false): Promise<Answer<Import>> =>
    platform.call<Import>('POST', at(platform, '/imports'), { passphrase, file, dryRun });
  const writeContact = (platform: Platform): Promise<Answer<WriteBody>> =>
    platform.call<WriteBody>(
      'POST',
      `/write/v1/projects/${platform.projectId}/integrations/hubspot-crm/objects/contacts`,
      { groupRef: 'acme', type: 'create', record: { email: `${Math.random()}@back.example` } },
    );
  async function renewed(platform: Platform): Promise<void> {
    await fault(platform.hubspot, { method: 'POST', fault: { kind: 'status', status: 401 } });
    const { status, text } = await writeContact(platform);
    if (status !== 200) throw new Error(text);
  }
  async function secretsIn(file: ProjectFile): Promise<unknown> {
    const content = JSON.parse(String(await openFile(file, passphrase))) as {
      connections: { row: string; secret: unknown }[];
    };
    const found = content.connections.find(({ row }) => row.includes(acme.connectionId));
    return found?.secret;
  }
  const signingKeyAt = async (platform: Platform, name: string): Promise<string> => {
    const { body } = await platform.call<{ secrets: { webhookSigningKey: string } }>(
      'GET',
      at(platform, `/destinations/${name}?includeSecrets=true`),
    );
    return body.secrets.webhookSigningKey;
  };
  const changeHook = (
    platform: Platform,
    name: string,
    member: string,
    value: object,
  ): Promise<Answer<unknown>> =>
    platform.call('PATCH', at(platform, `/destinations/${name}`), {
      updateMask: [member],
      destination: value,
    });
  const worksAt = async (platform: Platform, label: string): Promise<boolean> => {
    const headers = { 'x-api-key': keys[label]?.key ?? '' };
    return (await platform.call('GET', at(platform, '/connections'), undefined, { headers })).status === 200;
  };

  beforeAll(async () => {
    const here = await createTestDatabase();
    thereDatabase = await createTestDatabase();
    databases.push(here, thereDatabase);
    home = await startPlatform({ databaseUrl: here.url });
    away = await startPlatform({
      databaseUrl: thereDatabase.url,
      beside: home,
      env: { SVC_ENCRYPTION_KEYS: `other:${Buffer.alloc(32, 9).toString('base64')}` },
    });
    await deploy(home);
    acme = await install(home, 'hubspot-crm', 'acme');
    left = await install(home, 'hubspot-crm', 'left');
    await install(home, 'hubspot-crm', 'dead');
    for (const label of ['revoked', 'deleted']) {
      const made = await home.call<{ id: string; key: string }>('POST', at(home, '/api-keys'), {
        label,
        scopes: ['full'],
      });
      keys[label] = made.body;
    }
    for (const name of ['rotated', 'touched'])
      await home.call('POST', at(home, '/destinations'), {
        name,
        type: 'webhook',
        metadata: { url: `https://${name}.example/hook` },
      });
    out = await exported(home, true);
    const came = await imported(away, out);
    if (came.status !== 200) throw new Error(came.text);
    await renewed(away);
    await away.call('PATCH', at(away, `/api-keys/${keys['revoked']?.id}`), {
      updateMask: ['active'],
      apiKey: { active: false },
    });
    await away.call('DELETE', at(away, `/api-keys/${keys['deleted']?.id}`));
    await away.call('DELETE', at(away, `/integrations/hubspot-crm/installations/${left.installationId}`));
    const changed = await away.call(
      'PATCH',
      at(away, `/integrations/hubspot-crm/installations/${acme.installationId}`),
      {
        updateMask: ['config.content.proxy.enabled'],
        installation: { config: { content: { proxy: { enabled: false } } } },
      },
    );
    if (changed.status !== 200) throw new Error(changed.text);
    await away.call('POST', at(away, '/destinations/rotated:rotate'), { overlapHours: 0 });
    for (const name of ['other', 'touched'])
      await changeHook(away, name === 'other' ? 'touched' : 'other', 'name', { name });
    await thereDatabase.database.raw(
      `UPDATE connection SET status = 'bad_credentials', status_detail = 'died there' WHERE group_ref = 'dead'`,
    );
    back = await exported(away, true);
  });
  afterAll(async () => {
    await away?.stop();
    await home?.stop();
    for (const one of databases) await one.drop();
  });

  it('the file of the move from here brings no old credentials back, and the answer says so', async () => {
    const { status, body } = await imported(home, out);
    expect(status).toBe(200);
    expect(body.replaced).toMatchObject({ connections: 0 });
    expect(body.warnings).toEqual([
      { message: expect.stringMatching(/^Not used here.*connections 3 \(.*exports:undo/) as string },
    ]);
    expect((await writeContact(home)).text).toContain('moved to another server');
  });

  it('a dry run of the file of the move back tells what would be replaced, and changes nothing', async () => {
    const { body } = await imported(home, back, true);
    expect(body.replaced).toMatchObject({ connections: 2, apiKeys: 1, installations: 0 });
    expect((await writeContact(home)).text).toContain('moved to another server');
    expect(await worksAt(home, 'revoked')).toBe(true);
  });

  it('the move back brings the newer credentials, which are used here and nowhere else', async () => {
    const { status, body } = await imported(home, back);
    expect(status).toBe(200);
    expect(body.created).toMatchObject({ connections: 0, configs: 1 });
    expect(body.replaced).toMatchObject({ connections: 2, apiKeys: 1 });
    expect(body.unchanged).toMatchObject({ connections: 0, installations: 2 });
    expect(body.warnings).toEqual([
      { message: expect.stringMatching(/^Not used here.*connections 1 \(\w+\)\. /) as string },
      {
        message: expect.stringMatching(
          /^Left as it is here.*: installations 1 \(acme\), destinations 1 \(rotated\)\. /,
        ) as string,
      },
      {
        message: expect.stringMatching(
          /^Of these .* signing key.*: destinations 1 \(rotated\)\. .*"secrets\.webhookSigningKey"/,
        ) as string,
      },
      {
        message: expect.stringMatching(
          /: apiKeys 1 \(deleted\), connections 1 \(left\), installations 1 \(left\)\. /,
        ) as string,
      },
    ]);
    const secrets = await secretsIn(await exported(home, false));
    expect(secrets).toEqual(await secretsIn(back));
    expect(secrets).not.toEqual(await secretsIn(out));
    expect(await writeContact(home)).toMatchObject({ status: 200, body: { result: { success: true } } });
    expect((await writeContact(away)).text).toContain('moved to another server');
    expect(await home.call('POST', at(home, '/exports:undo'))).toMatchObject({ body: { connections: 1 } });
    const found = await home.call<{ status: string }[]>('GET', at(home, '/connections?groupRef=dead'));
    expect(found.body).toMatchObject([{ status: 'bad_credentials' }]);
    expect(found.text).not.toContain('moved to another server');
  });

  it('a key that was revoked there is revoked here', async () => {
    expect(await worksAt(home, 'revoked')).toBe(false);
  });

  it('a destination signs as there once it was given the key of there, as the answer says', async () => {
    const webhookSigningKey = await signingKeyAt(away, 'rotated');
    expect(await signingKeyAt(home, 'rotated')).not.toBe(webhookSigningKey);
    const secrets = { webhookSigningKey };
    const changed = await changeHook(home, 'rotated', 'secrets.webhookSigningKey', { secrets });
    expect(changed.status).toBe(200);
    expect(await signingKeyAt(home, 'rotated')).toBe(webhookSigningKey);
  });

  it('a second import changes nothing, and brings no old credentials over those that were renewed since', async () => {
    await renewed(home);
    const before = await secretsIn(await exported(home, false));
    const { body } = await imported(home, back);
    expect(Object.values(body.replaced).every((count) => count === 0)).toBe(true);
    expect(Object.values(body.created).every((count) => count === 0)).toBe(true);
    expect(await secretsIn(await exported(home, false))).toEqual(before);
    expect(before).not.toEqual(await secretsIn(back));
    expect(body.warnings).toEqual([
      { message: expect.stringMatching(/^Left as it is here.*: installations 1 \(acme\)\. /) as string },
      { message: expect.stringMatching(/^Here and not in the file.*: apiKeys 1 \(deleted\), /) as string },
    ]);
  });

  it('what moved back can be moved away again', async () => {
    const came = await imported(away, await exported(home, true));
    // With the one that is dead, which is handed over as it is.
    expect(came.body.replaced).toMatchObject({ connections: 2 });
    expect(await writeContact(away)).toMatchObject({ status: 200 });
    expect((await writeContact(home)).text).toContain('moved to another server');
  });

  it('a secret that cannot be opened here any more keeps no file out, and is another than that of the file', async () => {
    await databases[0]!.database.raw(
      `UPDATE destination SET secrets = '\\x00', updated_at = '2000-01-01' WHERE name = 'rotated'`,
    );
    const { status, body } = await imported(home, back, true);
    expect(status).toBe(200);
    expect(body.warnings).toContainEqual({
      message: expect.stringMatching(/^Of these .*: destinations 1 \(rotated\)\. /) as string,
    });
  });
});
