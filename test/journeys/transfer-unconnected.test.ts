import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openFile, sealFile } from '../../src/transfer/envelope.ts';
import type { Export, Import, ProjectFile } from '../../src/transfer/schema.ts';
import {
  connect,
  deploy,
  install,
  type Customer,
  type InstallationBody,
  type ProblemBody,
  type WriteBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

const passphrase = 'correct horse battery staple';

describe('test/journeys/transfer-unconnected', () => {
  const databases: TestDatabase[] = [];
  let from: Platform;
  let to: Platform;
  let here: TestDatabase;
  let acme: Customer;
  let gone: Customer;
  let file: ProjectFile;

  const at = (platform: Platform, path: string): string => `/projects/${platform.projectId}${path}`;
  const exported = (body: object = {}) =>
    from.call<Export & ProblemBody>('POST', at(from, '/exports'), { passphrase, ...body });
  const imported = (body: object = {}) =>
    to.call<Import & ProblemBody>('POST', at(to, '/imports'), { passphrase, file, ...body });
  const installation = (platform: Platform) =>
    platform.call<InstallationBody>(
      'GET',
      at(platform, `/integrations/hubspot-crm/installations/${gone.installationId}`),
    );

  beforeAll(async () => {
    here = await createTestDatabase();
    const there = await createTestDatabase();
    databases.push(here, there);
    from = await startPlatform({ databaseUrl: here.url });
    to = await startPlatform({ databaseUrl: there.url, beside: from });
    await deploy(from);
    acme = await install(from, 'hubspot-crm', 'acme');
    gone = await install(from, 'hubspot-crm', 'gone');
    const deleted = await from.call('DELETE', at(from, `/connections/${gone.connectionId}`));
    if (deleted.status !== 204) throw new Error(deleted.text);
  });
  afterAll(async () => {
    await to?.stop();
    await from?.stop();
    for (const one of databases) await one.drop();
  });

  it('what no import would take is told, by its id, before any connection is moved', async () => {
    const [config] = await here.database.raw(
      `UPDATE config SET content = '{"provider":"hubspot","read":1}' WHERE installation_id = $1
       RETURNING id, (SELECT o.content::text FROM config o WHERE o.id = config.id) AS content`,
      [acme.installationId],
    );
    const refused = await exported({ move: true });
    await here.database.raw('UPDATE config SET content = $2::json WHERE id = $1', [
      config?.['id'],
      config?.['content'],
    ]);
    expect(refused).toMatchObject({
      status: 422,
      body: {
        code: 'export-malformed',
        issues: [{ name: `configs[${String(config?.['id'])}].content.read` }],
      },
    });
    const record = { email: 'before@transfer.example' };
    expect(await acme.write('contacts', { type: 'create', record })).toMatchObject({ status: 200 });
  });

  it('an installation whose connection was deleted goes along, and a warning names its group', async () => {
    const { status, body } = await exported({ move: true });
    expect(status).toBe(200);
    file = body.file;
    expect(file.counts).toMatchObject({ connections: 1, installations: 2 });
    expect(body.warnings).toEqual([{ message: expect.stringMatching(/deleted.*: gone\.$/) as string }]);
  });

  it('nothing comes in with the connection of another group', async () => {
    await deploy(to);
    const ofOther = await connect(to, 'hubspot', 'other');
    const { data: _data, salt: _salt, ...head } = file;
    const text = String(await openFile(file, passphrase)).replaceAll(gone.connectionId, ofOther);
    const refused = await imported({ file: await sealFile(head, text, passphrase) });
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'import-clash' },
    });
    expect(refused.body.issues).toContainEqual(
      expect.objectContaining({ name: 'installations.gone', detail: expect.stringContaining('connection') }),
    );
    for (const { id } of (await to.call<{ id: string }[]>('GET', at(to, '/integrations'))).body)
      await to.call('DELETE', at(to, `/integrations/${id}`));
    for (const { id } of (await to.call<{ id: string }[]>('GET', at(to, '/provider-apps'))).body)
      await to.call('DELETE', at(to, `/provider-apps/${id}`));
  });

  it('such an installation comes in as before, and works once a connection is given to it', async () => {
    const came = await imported();
    expect(came).toMatchObject({ status: 200, body: { created: { connections: 1, installations: 2 } } });
    expect(came.body.warnings).toEqual([{ message: expect.stringMatching(/: gone\.$/) as string }]);
    const [before, after] = [await installation(from), await installation(to)];
    expect(before.body.healthStatus).toBe('unhealthy');
    expect(after.body).toMatchObject({ healthStatus: 'unhealthy', config: { id: before.body.config.id } });
    const connectionId = await connect(to, 'hubspot', 'gone');
    await to.call('PATCH', at(to, `/integrations/hubspot-crm/installations/${gone.installationId}`), {
      updateMask: ['connectionId'],
      installation: { connectionId },
    });
    const written = await to.call<WriteBody>(
      'POST',
      `/write/v1/projects/${to.projectId}/integrations/hubspot-crm/objects/contacts`,
      { groupRef: 'gone', type: 'create', record: { email: 'after@transfer.example' } },
    );
    expect(written).toMatchObject({ status: 200, body: { result: { success: true } } });
  });
});
