import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  deploy,
  install,
  manifest,
  type InstallationBody as Installation,
  type ProblemBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

describe('test/journeys/install-change', () => {
  let test: TestDatabase;
  let platform: Platform;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const base = () => `/projects/default/integrations/hubspot-crm`;
  const installed = async (groupRef: string, content?: Record<string, unknown>): Promise<Installation> =>
    (await get((await install(platform, 'hubspot-crm', groupRef, content)).installationId)).body;
  const get = (id: string) => platform.call<Installation>('GET', `${base()}/installations/${id}`);
  const patch = <Body = Installation>(id: string, updateMask: string[], installation: unknown) =>
    platform.call<Body>('PATCH', `${base()}/installations/${id}`, { updateMask, installation });
  const patchObject = <Body = Installation>(body: Record<string, unknown>, object = 'contacts') =>
    platform.call<Body>('PATCH', `${base()}/objects/${object}/config-content`, body);

  it('§4.4 PATCH changes what the mask names and nothing else', async () => {
    const made = await installed('masked', {
      provider: 'hubspot',
      write: { objects: { contacts: { objectName: 'contacts', deletionSettings: { enabled: true } } } },
      proxy: { enabled: true },
    });
    const changed = await patch(
      made.id,
      ['config.content.write.objects.companies', 'config.content.proxy.enabled'],
      {
        config: {
          content: {
            proxy: { enabled: false },
            write: {
              objects: { companies: { objectName: 'companies' }, contacts: { objectName: 'contacts' } },
            },
          },
        },
      },
    );
    expect(changed.status).toBe(200);
    expect(changed.body.config.content).toEqual({
      provider: 'hubspot',
      write: {
        objects: {
          contacts: { objectName: 'contacts', deletionSettings: { enabled: true } },
          companies: { objectName: 'companies' },
        },
      },
      proxy: { enabled: false },
    });
    expect(changed.body.config.id).not.toBe(made.config.id);
    const replaced = await patch(made.id, ['config.content.write.objects.contacts'], {
      config: { content: { write: { objects: { contacts: { objectName: 'contacts' } } } } },
    });
    expect(replaced.body.config.content.write?.objects['contacts']).toEqual({ objectName: 'contacts' });
  });

  it('a config is never changed, only followed by another', async () => {
    const made = await installed('immutable');
    await patch(made.id, ['config.createdBy'], { config: { createdBy: 'builder:bob' } });
    const rows = await test.database.raw(
      'SELECT id, content FROM config WHERE installation_id = $1 ORDER BY id',
      [made.id],
    );
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({ id: made.config.id, content: made.config.content });
    expect((await get(made.id)).body.config).toMatchObject({ id: rows[1]?.['id'], createdBy: 'builder:bob' });
  });

  it('§4.4 refuses unknown masks with the list, masks without a value, and contents that break a rule', async () => {
    const made = await installed('mask-refusals');
    expect(
      await patch<ProblemBody>(made.id, ['config.content.provider'], {
        config: { content: { provider: 'x' } },
      }),
    ).toMatchObject({
      status: 400,
      body: {
        remedy: expect.stringContaining('config.content.write.objects'),
        issues: [{ name: 'updateMask[0]' }],
      },
    });
    expect(
      await patch<ProblemBody>(made.id, ['config.content.write.objects.contacts'], {
        config: { content: {} },
      }),
    ).toMatchObject({ status: 400 });
    expect(await patch<ProblemBody>(made.id, [], {})).toMatchObject({ status: 400 });
    const broken = { config: { content: { write: { objects: { invoices: { objectName: 'invoices' } } } } } };
    expect(
      await patch<ProblemBody>(made.id, ['config.content.write.objects.invoices'], broken),
    ).toMatchObject({ status: 422, body: { code: 'config-invalid' } });
    expect((await get(made.id)).body).toEqual(made);
  });

  it('§4.5 JSON Patch adds, replaces and removes in one object’s config: groupRef, action, changes', async () => {
    const made = await installed('json-patch', {
      provider: 'hubspot',
      write: { objects: { contacts: { objectName: 'contacts' } } },
    });
    const added = await patchObject({
      groupRef: 'json-patch',
      action: 'write',
      changes: [{ op: 'add', path: '/deletionSettings', value: { enabled: false } }],
    });
    expect(added).toMatchObject({ status: 200, body: { id: made.id } });
    await patchObject({
      installationId: made.id,
      action: 'write',
      changes: [{ op: 'replace', path: '/deletionSettings/enabled', value: true }],
    });
    expect((await get(made.id)).body.config.content.write?.objects['contacts']).toEqual({
      objectName: 'contacts',
      deletionSettings: { enabled: true },
    });
    await patchObject({
      groupRef: 'json-patch',
      action: 'write',
      changes: [{ op: 'remove', path: '/deletionSettings' }],
    });
    expect((await get(made.id)).body.config.content.write?.objects['contacts']).toEqual({
      objectName: 'contacts',
    });
    const whole = { op: 'add', path: '', value: { objectName: 'companies' } };
    expect(
      (await patchObject({ groupRef: 'json-patch', action: 'write', changes: [whole] }, 'companies')).status,
    ).toBe(200);
  });

  it('§4.5 refuses replacing what is not there, all or nothing, and names the change', async () => {
    const made = await installed('patch-refusals', {
      provider: 'hubspot',
      write: { objects: { contacts: { objectName: 'contacts' } } },
    });
    const change = (
      changes: unknown[],
      more: Record<string, unknown> = { groupRef: 'patch-refusals' },
      object = 'contacts',
    ) => patchObject<ProblemBody>({ action: 'write', changes, ...more }, object);
    const add = { op: 'add', path: '/deletionSettings', value: { enabled: true } };
    const missing = await change([add, { op: 'replace', path: '/selectedFieldSettings', value: {} }]);
    expect(missing).toMatchObject({ status: 400, body: { issues: [{ name: 'changes[1].path' }] } });
    expect(await change([{ op: 'add', path: '/selectedFields', value: { a: true } }])).toMatchObject({
      status: 400,
      body: {
        issues: [
          {
            name: expect.stringMatching(/selectedFields$/),
            detail: expect.stringMatching(/^is not a known property/),
          },
        ],
      },
    });
    expect(await change([{ op: 'test', path: '/objectName', value: 'contacts' }])).toMatchObject({
      status: 400,
      body: { issues: [{ name: 'changes[0].op' }] },
    });
    expect(await change([{ op: 'add', path: '/x' }])).toMatchObject({
      status: 400,
      body: { issues: [{ name: 'changes[0].value' }] },
    });
    expect(await change([])).toMatchObject({ status: 400 });
    expect(await change([add], {})).toMatchObject({ status: 400 });
    expect(await change([add], { groupRef: 'nobody' })).toMatchObject({ status: 404 });
    expect(await change([add], undefined, 'companies')).toMatchObject({ status: 404 });
    expect(await change([add], { groupRef: 'patch-refusals', action: 'erase' })).toMatchObject({
      status: 400,
      body: { issues: [{ name: 'action' }] },
    });
    expect((await get(made.id)).body).toEqual(made);
  });

  it('after a deploy that drops an object, what is installed stays and can be changed', async () => {
    const made = await installed('later', {
      provider: 'hubspot',
      write: { objects: { companies: { objectName: 'companies' } } },
    });
    await platform.call('PUT', '/projects/default/integrations:batch', {
      sourceYaml: manifest.replace('        - objectName: companies\n', ''),
    });
    const changed = await patch(made.id, ['config.content.proxy.enabled'], {
      config: { content: { proxy: { enabled: true } } },
    });
    expect(changed.status).toBe(200);
    expect(changed.body.config.revisionId).not.toBe(made.config.revisionId);
  });
});
