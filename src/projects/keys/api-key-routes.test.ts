import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openHarness, type Answer, type Harness } from '../harness.fixture.ts';
import { generateApiKey } from './key-form.ts';

const keys = '/projects/default/api-keys';
const inMs = (ms: number): string => new Date(Date.now() + ms).toISOString();
const from = { surface: 'proxy', address: () => '192.0.2.1' } as const;

describe('src/projects/keys/api-key-routes', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
  });
  afterAll(() => harness.close());

  const create = async (given: object): Promise<{ id: string; key: string }> =>
    (await harness.call('POST', keys, { label: 'a key', ...given })).body;

  it('shows a key once and stores only the hash of its secret', async () => {
    const { status, headers, body } = await harness.call('POST', keys, {
      label: 'for writing',
      scopes: ['write', 'read'],
    });
    expect(status).toBe(201);
    expect(headers['cache-control']).toBe('no-store');
    expect(body).toMatchObject({
      label: 'for writing',
      scopes: ['write', 'read'],
      active: true,
      projectId: harness.projectId,
    });
    expect(body.key).toContain(`svc_${body.id}_`);
    const again = await harness.call('GET', `${keys}/${body.id}`);
    expect(again.body).not.toHaveProperty('key');
    expect((await harness.call('GET', keys)).body.every((each: object) => !('key' in each))).toBe(true);
    const stored = await harness.database.raw('SELECT row_to_json(k)::text AS row FROM api_key k');
    const secret = body.key.split('_').slice(2).join('_').slice(0, 30);
    expect(stored.every(({ row }) => !String(row).includes(secret))).toBe(true);
  });

  it('gives the scope full unless told otherwise', async () => {
    expect(await create({})).toMatchObject({ scopes: ['full'] });
  });

  it.each([
    { label: '' },
    { label: 'x', scopes: [] },
    { label: 'x', scopes: ['admin'] },
    { scopes: ['read'] },
    { label: 'x', groupRef: '' },
  ])('refuses %j', async (given) => {
    expect((await harness.call('POST', keys, given)).status).toBe(400);
  });

  it('lists by whether keys are active', async () => {
    const { id } = await create({ label: 'sleeping' });
    await harness.call('PATCH', `${keys}/${id}`, { updateMask: ['active'], apiKey: { active: false } });
    const ids = async (query: string): Promise<string[]> =>
      (await harness.call('GET', `${keys}${query}`)).body.map((each: { id: string }) => each.id);
    expect(await ids('?active=false')).toEqual([id]);
    expect(await ids('?active=true')).not.toContain(id);
    expect(await ids('')).toContain(id);
  });

  it('changes label and scopes by mask', async () => {
    const { id, key } = await create({ scopes: ['read'] });
    expect((await harness.call('GET', '/probe/write', undefined, { key })).status).toBe(403);
    const change = {
      updateMask: ['label', 'scopes'],
      apiKey: { label: 'new', scopes: ['write'], active: false },
    };
    const { body } = await harness.call('PATCH', `${keys}/${id}`, change);
    expect(body).toMatchObject({ label: 'new', scopes: ['write'], active: true });
    expect((await harness.call('GET', '/probe/write', undefined, { key })).status).toBe(200);
    const unmasked = await harness.call('PATCH', `${keys}/${id}`, { updateMask: ['groupRef'], apiKey: {} });
    expect(unmasked.status).toBe(400);
  });

  it.each(['deactivated', 'deleted'])(
    'a %s key holds no longer: at once here, within five seconds elsewhere',
    async (how) => {
      const { id, key } = await create({ scopes: ['read'] });
      const elsewhere = harness.createNode();
      expect((await harness.call('GET', '/probe/read', undefined, { key })).status).toBe(200);
      expect(await elsewhere.authenticateKey(key, from)).toMatchObject({ keyId: id });
      const { status } =
        how === 'deleted'
          ? await harness.call('DELETE', `${keys}/${id}`)
          : await harness.call('PATCH', `${keys}/${id}`, {
              updateMask: ['active'],
              apiKey: { active: false },
            });
      expect(status).toBe(how === 'deleted' ? 204 : 200);
      const changedAt = performance.now();
      expect((await harness.call('GET', '/probe/read', undefined, { key })).status).toBe(401);
      let refused = false;
      while (!refused && performance.now() - changedAt < 5_000) {
        await sleep(100);
        refused = await elsewhere.authenticateKey(key, from).then(
          () => false,
          () => true,
        );
      }
      expect(refused).toBe(true);
    },
  );

  it('is told of in the audit log with the group that it is confined to', async () => {
    const { id } = await create({ groupRef: 'g1' });
    const change = { updateMask: ['label'], apiKey: { label: 'another' } };
    await harness.call('PATCH', `${keys}/${id}`, change);
    await harness.call('DELETE', `${keys}/${id}`);
    const told = await harness.database.raw(
      "SELECT action, details->>'groupRef' AS of FROM audit_log WHERE target_id = $1 ORDER BY id",
      [id],
    );
    expect(told).toEqual(
      ['created', 'updated', 'deleted'].map((done) => ({ action: `apiKey.${done}`, of: 'g1' })),
    );
  });

  it('does not know keys of another project', async () => {
    const other = (await harness.call('POST', '/projects', { name: 'other' })).body;
    for (const method of ['GET', 'DELETE'] as const) {
      expect((await harness.call(method, `${keys}/${other.apiKey.id}`)).status).toBe(404);
    }
    const patch = { updateMask: ['active'], apiKey: { active: false } };
    expect((await harness.call('PATCH', `${keys}/${other.apiKey.id}`, patch)).status).toBe(404);
    expect((await harness.call('GET', '/projects/other', undefined, { key: other.apiKey.key })).status).toBe(
      200,
    );
  });

  it('is managed by full keys only that are not confined to a group', async () => {
    const { key: reading } = await create({ scopes: ['read', 'write', 'proxy', 'frontend'] });
    expect((await harness.call('GET', keys, undefined, { key: reading })).status).toBe(200);
    expect((await harness.call('POST', keys, { label: 'x' }, { key: reading })).status).toBe(403);
    const { key: confined } = await create({ groupRef: 'g1' });
    expect((await harness.call('POST', keys, { label: 'x' }, { key: confined })).status).toBe(403);
    expect((await harness.call('GET', '/probe/any', undefined, { key: confined })).body).toMatchObject({
      groupRef: 'g1',
    });
  });

  describe('what concerns all projects', () => {
    it('is not reached by the full key of another project, which cannot give it to itself either', async () => {
      const tenant = (await harness.call('POST', '/projects', { name: 'tenant' })).body;
      const { key } = tenant.apiKey;
      expect((await harness.call('POST', '/projects', { name: 'next' }, { key })).status).toBe(403);
      const own = '/projects/tenant/api-keys';
      for (const scope of ['operator', 'metrics']) {
        const made = await harness.call('POST', own, { label: 'x', scopes: [scope] }, { key });
        expect([made.status, made.body.code]).toEqual([403, 'forbidden']);
        const change = { updateMask: ['scopes'], apiKey: { scopes: ['full', scope] } };
        expect((await harness.call('PATCH', `${own}/${tenant.apiKey.id}`, change, { key })).status).toBe(403);
      }
      expect(
        (await harness.call('GET', `${own}/${tenant.apiKey.id}`, undefined, { key })).body.scopes,
      ).toEqual(['full']);
    });

    it('is given by a key that has it, and to none that is confined to a group', async () => {
      const { key } = await create({ scopes: ['operator'] });
      expect((await harness.call('POST', '/projects', { name: 'made' }, { key })).status).toBe(201);
      const given = { label: 'x', scopes: ['metrics'], groupRef: 'g1' };
      const { status, body } = await harness.call('POST', keys, given);
      expect([status, body.issues[0].name]).toEqual([400, 'scopes']);
      const { id } = await create({ scopes: ['read'], groupRef: 'g1' });
      const change = { updateMask: ['scopes'], apiKey: { scopes: ['operator'] } };
      expect((await harness.call('PATCH', `${keys}/${id}`, change)).status).toBe(400);
    });

    it.each([[['full', 'metrics', 'operator']], [['metrics']]])(
      'is only taken from a key with %j by a key without the scope operator',
      async (scopes) => {
        const { key } = await create({});
        const { id } = await create({ scopes, expiresAt: inMs(60_000) });
        const change = async (apiKey: object, by: string): Promise<Answer> =>
          harness.call('PATCH', `${keys}/${id}`, { updateMask: Object.keys(apiKey), apiKey }, { key: by });
        const widening = [
          { active: true },
          { expiresAt: null },
          { expiresAt: inMs(90_000) },
          { scopes: ['full'] },
          { label: 'mine' },
          { active: false, label: 'mine' },
        ];
        for (const apiKey of widening) {
          const { status, body } = await change(apiKey, key);
          expect([apiKey, status, body.code]).toEqual([apiKey, 403, 'forbidden']);
          expect(body.detail).toContain(scopes.filter((scope) => scope !== 'full').join(', '));
        }
        for (const apiKey of [{ expiresAt: inMs(30_000) }, { active: false }])
          expect((await change(apiKey, key)).body).toMatchObject({ ...apiKey, scopes });
        expect((await change({ active: true }, key)).status).toBe(403);
        expect((await change({ active: true, expiresAt: null }, harness.apiKey)).status).toBe(200);
        expect((await harness.call('DELETE', `${keys}/${id}`, undefined, { key })).status).toBe(204);
      },
    );
  });

  describe('the life of a key', () => {
    it('ends at its expiry, within the age of the caches, and not before', async () => {
      const { id, key } = await create({ scopes: ['read'], expiresAt: inMs(1_500) });
      expect((await harness.call('GET', '/probe/read', undefined, { key })).status).toBe(200);
      expect((await harness.call('GET', `${keys}/${id}`)).body.expiresAt).toMatch(/Z$/);
      await sleep(4_500);
      expect((await harness.call('GET', '/probe/read', undefined, { key })).status).toBe(401);
      const longer = { updateMask: ['expiresAt'], apiKey: { expiresAt: null } };
      expect((await harness.call('PATCH', `${keys}/${id}`, longer)).body).not.toHaveProperty('expiresAt');
      expect((await harness.call('GET', '/probe/read', undefined, { key })).status).toBe(200);
    });

    it('does not begin over', async () => {
      const { status, body } = await harness.call('POST', keys, { label: 'x', expiresAt: inMs(-1) });
      expect([status, body.issues[0].name]).toEqual([400, 'expiresAt']);
    });

    it('shows when the key was used last, without writing at each use', async () => {
      const { id, key } = await create({ scopes: ['read'] });
      expect((await harness.call('GET', `${keys}/${id}`)).body).not.toHaveProperty('lastUsedAt');
      const elsewhere = harness.createNode();
      const before = harness.calls('api_keys_touch');
      for (let time = 0; time < 20; time += 1) await elsewhere.authenticateKey(key, from);
      expect(harness.calls('api_keys_touch')).toBe(before);
      await elsewhere.close();
      expect(harness.calls('api_keys_touch')).toBe(before + 1);
      const { lastUsedAt } = (await harness.call('GET', `${keys}/${id}`)).body;
      expect(Math.abs(Date.now() - Date.parse(lastUsedAt))).toBeLessThan(5_000);
      const again = harness.createNode();
      await again.authenticateKey(key, from);
      await again.close();
      expect((await harness.call('GET', `${keys}/${id}`)).body.lastUsedAt).toBe(lastUsedAt);
    });
  });

  it('asks the database once for made-up keys, however many come at once', async () => {
    const made = Array.from({ length: 400 }, () => generateApiKey().key);
    const before = harness.calls('api_keys_load');
    const refused = await Promise.all(
      made.map((key) => harness.projects.authenticateKey(key, from).catch(() => 401)),
    );
    expect(new Set(refused)).toEqual(new Set([401]));
    await Promise.all(made.map((key) => harness.projects.authenticateKey(key, from).catch(() => 401)));
    expect(harness.calls('api_keys_load') - before).toBeLessThan(10);
  });

  it('answers 429 to an address that goes on with wrong keys, and serves valid ones from there', async () => {
    const slow = await openHarness({ failuresPerMinute: 5 });
    try {
      const wrong = async () => slow.call('GET', '/projects', undefined, { key: generateApiKey().key });
      for (let time = 0; time < 5; time += 1) expect((await wrong()).status).toBe(401);
      const { status, headers, body } = await wrong();
      expect([status, body.code, headers['retry-after']]).toEqual([429, 'too-many-failures', '12']);
      for (const [name, value] of [
        ['authorization', 'Basic dTpw'],
        ['x-api-key', 'svcf_a'],
      ] as const) {
        const unreadable = { [name]: value };
        const answer = await slow.call('GET', '/projects', undefined, { key: null, headers: unreadable });
        expect(answer.status).toBe(429);
      }
      expect((await slow.call('GET', '/projects')).status).toBe(200);
      const cold = await slow.call('POST', keys, { label: 'cold', scopes: ['read'] });
      expect((await slow.call('GET', '/probe/read', undefined, { key: cold.body.key })).status).toBe(200);
      expect((await slow.call('GET', '/projects', undefined, { key: null })).status).toBe(401);
    } finally {
      await slow.close();
    }
  });

  describe('credentials', () => {
    it.each([
      ['none', {}],
      ['an empty key', { 'x-api-key': '' }],
      ['text that is no key', { 'x-api-key': 'hello' }],
      ['a made-up key with a right checksum', { 'x-api-key': generateApiKey().key }],
      ['another scheme', { authorization: 'Basic dTpw' }],
      ['a bearer that is neither key nor token', { authorization: 'Bearer hello' }],
    ])('answers 401 to %s', async (_name, headers) => {
      const answer = await harness.call('GET', '/projects', undefined, { key: null, headers });
      expect([answer.status, answer.body.code]).toEqual([401, 'unauthenticated']);
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    });

    it('answers 401 when the secret is wrong for the key id', async () => {
      const [, id] = harness.apiKey.split('_');
      const forged = generateApiKey();
      expect(
        (await harness.call('GET', '/projects', undefined, { key: forged.key.replace(forged.id, id!) }))
          .status,
      ).toBe(401);
    });

    it('refuses a repeated X-Api-Key', async () => {
      const { status, body } = await harness.call('GET', '/projects', undefined, {
        key: `${harness.apiKey}, ${harness.apiKey}`,
      });
      expect([status, body.detail]).toEqual([401, expect.stringContaining('more than once')]);
    });

    it('takes a key as a bearer, too, and lets X-Api-Key win', async () => {
      const { key: reading } = await create({ scopes: ['read'] });
      const bearer = { authorization: `Bearer ${harness.apiKey}` };
      expect(
        (await harness.call('GET', '/probe/any', undefined, { key: null, headers: bearer })).status,
      ).toBe(200);
      expect(
        (await harness.call('GET', '/probe/any', undefined, { key: reading, headers: bearer })).status,
      ).toBe(403);
    });
  });

  describe('scopes', () => {
    const probes = ['any', 'write', 'read', 'proxy', 'frontend', 'undeclared'];

    it.each([
      ['full', probes],
      ['write', ['write']],
      ['read', ['read']],
      ['proxy', ['proxy']],
      ['frontend', ['frontend']],
    ])('a key of scope %s reaches %j', async (scope, reached) => {
      const { key } = await create({ scopes: [scope] });
      const statuses = await Promise.all(
        probes.map(async (probe) => [
          probe,
          (await harness.call('GET', `/probe/${probe}`, undefined, { key })).status,
        ]),
      );
      expect(statuses).toEqual(probes.map((probe) => [probe, reached.includes(probe) ? 200 : 403]));
    });

    it('says which scopes would do', async () => {
      const { key } = await create({ scopes: ['frontend'] });
      const { body } = await harness.call('GET', '/probe/write', undefined, { key });
      expect(body.detail).toBe(
        'This needs a key with one of the scopes full, develop, write; yours has frontend.',
      );
    });
  });
});
