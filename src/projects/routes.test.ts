import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHarness, type Harness } from './harness.fixture.ts';

describe('src/projects/routes', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness({
      keepDays: { operations: 400, exchanges: 7, messages: 30, events: 30, proxyLogs: 7 },
    });
  });
  afterAll(() => harness.close());

  it('lists the one project that the key belongs to', async () => {
    const { status, body } = await harness.call('GET', '/projects');
    expect(status).toBe(200);
    expect(body).toEqual([
      {
        id: harness.projectId,
        name: 'default',
        appName: 'default',
        allowedOrigins: [],
        branding: {},
        keepDays: {},
        orgId: expect.any(String),
        createTime: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
        updateTime: expect.any(String),
      },
    ]);
  });

  it('makes a project with a key that reaches it and nothing else', async () => {
    const { status, body } = await harness.call('POST', '/projects', { name: 'Acme-CRM' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      name: 'acme-crm',
      appName: 'Acme-CRM',
      apiKey: { scopes: ['full'], active: true },
    });
    const { key } = body.apiKey;
    expect((await harness.call('GET', '/projects/acme-crm', undefined, { key })).body.id).toBe(body.id);
    expect((await harness.call('GET', `/projects/${body.id}`, undefined, { key })).status).toBe(200);
    expect((await harness.call('GET', '/projects/ACME-CRM', undefined, { key })).status).toBe(200);
    expect((await harness.call('GET', '/projects/default', undefined, { key })).status).toBe(404);
    expect((await harness.call('GET', `/projects/${body.id}`)).status).toBe(404);
  });

  it('refuses a name that is taken, in whatever case', async () => {
    await harness.call('POST', '/projects', { name: 'taken' });
    const { status, body } = await harness.call('POST', '/projects', { name: 'TAKEN' });
    expect([status, body.code]).toEqual([409, 'already-exists']);
  });

  it.each(['a', '-ab', 'ab-', 'a_b', 'a b', 'x'.repeat(129), '0190a5d4-7d3c-7a2b-8c1d-2e3f4a5b6c7d'])(
    'refuses the name %s',
    async (name) => {
      expect((await harness.call('POST', '/projects', { name })).status).toBe(400);
    },
  );

  it('refuses an unknown property by its name', async () => {
    const { status, body } = await harness.call('POST', '/projects', { name: 'good', colour: 'red' });
    expect(status).toBe(400);
    expect(body.issues).toEqual([
      {
        in: 'body',
        name: 'colour',
        detail: expect.stringMatching(/^is not a known property; known here: name, /),
      },
    ]);
  });

  it('changes what the mask names, and the new name holds at once for every key', async () => {
    const { apiKey, id } = (await harness.call('POST', '/projects', { name: 'before', appName: 'App' })).body;
    const { key } = apiKey;
    const answer = await harness.call(
      'PATCH',
      '/projects/before',
      { updateMask: ['name'], project: { name: 'After', appName: 'ignored' } },
      { key },
    );
    expect(answer.body).toMatchObject({ id, name: 'after', appName: 'App' });
    expect((await harness.call('GET', '/projects/after', undefined, { key })).status).toBe(200);
    expect((await harness.call('GET', '/projects/before', undefined, { key })).status).toBe(404);
    const unmasked = await harness.call(
      'PATCH',
      '/projects/after',
      { updateMask: ['id'], project: {} },
      { key },
    );
    expect([unmasked.status, unmasked.body.remedy]).toEqual([
      400,
      'The masks allowed are name, appName, allowedOrigins, branding, keepDays, keepDays.operations, keepDays.exchanges, keepDays.messages, keepDays.events, keepDays.proxyLogs.',
    ]);
    const taken = await harness.call(
      'PATCH',
      '/projects/after',
      { updateMask: ['name'], project: { name: 'default' } },
      { key },
    );
    expect(taken.status).toBe(409);
  });

  it('keeps fewer days than the operator where a project asks for it, kind by kind, and says so in the audit log', async () => {
    const { apiKey, id } = (await harness.call('POST', '/projects', { name: 'brief' })).body;
    const { key } = apiKey;
    const change = (updateMask: string[], keepDays: object) =>
      harness.call('PATCH', '/projects/brief', { updateMask, project: { keepDays } }, { key });
    const days = async (answer: ReturnType<typeof change>) => (await answer).body.keepDays;
    expect(await days(change(['keepDays'], { messages: 0, events: 7 }))).toEqual({ messages: 0, events: 7 });
    expect(await days(change(['keepDays.proxyLogs'], { proxyLogs: 1, events: 9 }))).toEqual({
      messages: 0,
      events: 7,
      proxyLogs: 1,
    });
    expect(await days(change(['keepDays.messages'], { messages: null }))).toEqual({
      events: 7,
      proxyLogs: 1,
    });
    const refused = await change(['keepDays.messages', 'keepDays.events'], { messages: 31, events: 30 });
    expect([refused.status, refused.body.issues]).toEqual([
      400,
      [
        {
          in: 'body',
          name: 'project.keepDays.messages',
          detail: 'must be at most 30, the days that the operator of this service keeps',
          value: 31,
        },
      ],
    ]);
    for (const [mask, value] of [
      ['keepDays.events', { events: 0 }],
      ['keepDays.messages', { messages: 1.5 }],
      ['keepDays.auditLog', { auditLog: 1 }],
    ] as const)
      expect((await change([mask], value)).status).toBe(400);
    expect(await days(harness.call('GET', '/projects/brief', undefined, { key }))).toEqual({
      events: 7,
      proxyLogs: 1,
    });
    expect(await days(change(['keepDays'], {}))).toEqual({});
    const told = await harness.database.raw(
      `SELECT details FROM audit_log WHERE project_id = $1 AND action = 'project.updated' ORDER BY id`,
      [id],
    );
    expect(told.map(({ details }) => details)).toEqual([
      { keepDays: { before: {}, after: { messages: 0, events: 7 } } },
      {
        keepDays: { before: { messages: 0, events: 7 }, after: { messages: 0, events: 7, proxyLogs: 1 } },
      },
      { keepDays: { before: { messages: 0, events: 7, proxyLogs: 1 }, after: { events: 7, proxyLogs: 1 } } },
      { keepDays: { before: { events: 7, proxyLogs: 1 }, after: {} } },
    ]);
  });

  it('shows the catalogue to everybody', async () => {
    const { status, body } = await harness.call('GET', '/providers', undefined, { key: null });
    expect(status).toBe(200);
    expect(body.hubspot).toMatchObject({
      name: 'hubspot',
      authType: 'oauth2',
      support: { proxy: true, write: true },
    });
    const one = await harness.call('GET', '/providers/salesforce', undefined, { key: null });
    expect(one.body.oauth2Opts).toMatchObject({ grantType: expect.any(String) });
    expect((await harness.call('GET', '/providers/Salesforce', undefined, { key: null })).status).toBe(404);
  });
});
