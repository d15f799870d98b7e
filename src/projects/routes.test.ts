import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRoom, type Room } from './room.testsuite.ts';

describe('src/projects/routes', () => {
  let room: Room;
  beforeAll(async () => {
    room = await openRoom();
  });
  afterAll(() => room.close());

  it('lists the one project that the key belongs to', async () => {
    const { status, body } = await room.call('GET', '/projects');
    expect(status).toBe(200);
    expect(body).toEqual([
      {
        id: room.projectId,
        name: 'default',
        appName: 'default',
        allowedOrigins: [],
        orgId: expect.any(String),
        createTime: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
        updateTime: expect.any(String),
      },
    ]);
  });

  it('makes a project with a key that reaches it and nothing else', async () => {
    const { status, body } = await room.call('POST', '/projects', { name: 'Acme-CRM' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'acme-crm',
      appName: 'Acme-CRM',
      apiKey: { scopes: ['full'], active: true },
    });
    const { key } = body.apiKey;
    expect((await room.call('GET', '/projects/acme-crm', undefined, { key })).body.id).toBe(body.id);
    expect((await room.call('GET', `/projects/${body.id}`, undefined, { key })).status).toBe(200);
    expect((await room.call('GET', '/projects/ACME-CRM', undefined, { key })).status).toBe(200);
    expect((await room.call('GET', '/projects/default', undefined, { key })).status).toBe(404);
    expect((await room.call('GET', `/projects/${body.id}`)).status).toBe(404);
  });

  it('refuses a name that is taken, in whatever case', async () => {
    await room.call('POST', '/projects', { name: 'taken' });
    const { status, body } = await room.call('POST', '/projects', { name: 'TAKEN' });
    expect([status, body.code]).toEqual([409, 'already-exists']);
  });

  it.each(['a', '-ab', 'ab-', 'a_b', 'a b', 'x'.repeat(129), '0190a5d4-7d3c-7a2b-8c1d-2e3f4a5b6c7d'])(
    'refuses the name %s',
    async (name) => {
      expect((await room.call('POST', '/projects', { name })).status).toBe(400);
    },
  );

  it('refuses an unknown property by its name', async () => {
    const { status, body } = await room.call('POST', '/projects', { name: 'good', colour: 'red' });
    expect(status).toBe(400);
    expect(body.issues).toEqual([{ in: 'body', name: 'colour', detail: 'is not a known property' }]);
  });

  it('changes what the mask names, and the new name holds at once for every key', async () => {
    const { apiKey, id } = (await room.call('POST', '/projects', { name: 'before', appName: 'App' })).body;
    const { key } = apiKey;
    const answer = await room.call(
      'PATCH',
      '/projects/before',
      { updateMask: ['name'], project: { name: 'After', appName: 'ignored' } },
      { key },
    );
    expect(answer.body).toMatchObject({ id, name: 'after', appName: 'App' });
    expect((await room.call('GET', '/projects/after', undefined, { key })).status).toBe(200);
    expect((await room.call('GET', '/projects/before', undefined, { key })).status).toBe(404);
    const unmasked = await room.call(
      'PATCH',
      '/projects/after',
      { updateMask: ['id'], project: {} },
      { key },
    );
    expect([unmasked.status, unmasked.body.remedy]).toEqual([
      400,
      'The masks allowed are name, appName, allowedOrigins.',
    ]);
    const taken = await room.call(
      'PATCH',
      '/projects/after',
      { updateMask: ['name'], project: { name: 'default' } },
      { key },
    );
    expect(taken.status).toBe(409);
  });

  it('shows the catalogue to everybody', async () => {
    const { status, body } = await room.call('GET', '/providers', undefined, { key: null });
    expect(status).toBe(200);
    expect(body.hubspot).toMatchObject({
      name: 'hubspot',
      authType: 'oauth2',
      support: { proxy: true, write: true },
    });
    const one = await room.call('GET', '/providers/salesforce', undefined, { key: null });
    expect(one.body.oauth2Opts).toMatchObject({ grantType: expect.any(String) });
    expect((await room.call('GET', '/providers/Salesforce', undefined, { key: null })).status).toBe(404);
  });
});
