import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import '../../src/app.ts';
import { wholeProject } from '../../src/events/index.ts';
import { newId } from '../../src/kit/ids.ts';
import { declaredStatements } from '../../src/kit/db/statement.ts';
import { findMembers } from '../../src/people/index.ts';
import type { Overview, SearchHits } from '../../src/overview/schema.ts';
import { deploy, fault, install, simulator, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

describe('test/journeys/overview', () => {
  let test: TestDatabase;
  let platform: Platform;
  let acme: Customer;
  let globex: Customer;
  let globexKey: string;
  let readKey: { id: string; key: string };
  let count = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    acme = await install(platform, 'hubspot-crm', 'Acme_Inc');
    globex = await install(platform, 'hubspot-crm', 'globex');
    globexKey = (await made({ label: 'globex', scopes: ['read'], groupRef: 'globex' })).key;
    readKey = await made({ label: 'Backend reader', scopes: ['read'] });
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const made = async (body: unknown) =>
    (await platform.call<{ id: string; key: string }>('POST', '/projects/default/api-keys', body)).body;
  const find = (q: string, key = platform.apiKey) =>
    platform.call<SearchHits>('GET', `/projects/default/search?q=${encodeURIComponent(q)}`, undefined, {
      key,
    });
  const found = async (q: string, key?: string): Promise<string[]> => {
    const { status, body, text } = await find(q, key);
    expect([status, text]).toEqual([200, expect.any(String)]);
    return body.hits.map(({ type, id }) => `${type} ${id}`);
  };
  const create = (customer: Customer, more: Record<string, unknown> = {}) =>
    customer.write('contacts', { type: 'create', record: { email: `o${++count}@example.com` }, ...more });

  it('finds an operation by its id and by the first characters of it, and says where it belongs', async () => {
    const { operationId } = (await create(acme)).body;
    const [hit] = (await find(operationId)).body.hits;
    expect(hit).toEqual({
      type: 'operation',
      id: operationId,
      name: 'contacts',
      groupRef: 'Acme_Inc',
      integrationId: expect.any(String) as string,
      installationId: acme.installationId,
      operationId,
    });
    expect(await found(operationId.slice(0, 18).toUpperCase())).toContain(`operation ${operationId}`);
  });

  it('finds connections, installations, groups, integrations and keys', async () => {
    expect(await found(acme.connectionId)).toEqual([`connection ${acme.connectionId}`]);
    expect(await found(acme.installationId)).toEqual([`installation ${acme.installationId}`]);
    expect(await found('acme_')).toEqual(['group Acme_Inc', 'consumer Acme_Inc-user']);
    expect(await found('GLOB')).toContain('group globex');
    expect((await found('hubspot-c'))[0]).toMatch(/^integration /);
    expect(await found('backend')).toEqual([`apiKey ${readKey.id}`]);
    expect(await found(readKey.id)).toEqual([`apiKey ${readKey.id}`]);
  });

  it('finds no key for a caller who may not see keys, and nothing of other groups for one who is confined to a group', async () => {
    expect(await found('backend', readKey.key)).toEqual([]);
    const theirs = (await create(acme)).body.operationId;
    const ours = (await create(globex)).body.operationId;
    expect(await found(theirs, globexKey)).toEqual([]);
    expect(await found(ours, globexKey)).toEqual([`operation ${ours}`]);
    expect([await found('acme', globexKey), await found('glob', globexKey)]).toEqual([
      [],
      ['group globex', 'consumer globex-user'],
    ]);
  });

  it('finds members by e-mail, name and id, for a caller who sees the whole project', async () => {
    const { body } = await platform.call<{ url: string }>('POST', '/projects/default/invitations', {
      email: 'grace@people.example',
      role: 'viewer',
    });
    const token = new URLSearchParams(new URL(body.url).hash.slice(1)).get('token');
    const accepted = await fetch(`${platform.base}/v1/invitations:accept`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: platform.base },
      body: JSON.stringify({ token, password: 'correct horse battery', name: 'Grace Hopper' }),
    });
    const { person } = (await accepted.json()) as { person: { id: string } };
    const grace = `person ${person.id}`;
    for (const q of ['GRACE@people', 'grace hop', person.id, person.id.slice(0, 13)])
      expect([q, await found(q, readKey.key)]).toEqual([q, [grace]]);
    expect((await find('grace@')).body.hits[0]?.name).toBe('Grace Hopper · grace@people.example');
    expect(await found('grace', globexKey)).toEqual([]);
    expect(await found('people.example')).toEqual([]);
    const sought = { range: null, text: 'grace', isFull: true };
    expect(await findMembers(test.database, wholeProject(platform.projectId), sought)).toHaveLength(1);
    expect(await findMembers(test.database, wholeProject(newId()), sought)).toEqual([]);
  });

  it.each(['%', '_', '%%%%%%%%', "'; DROP TABLE operation; --", '\\', '\u{10FFFF}', '💥'.repeat(50)])(
    'takes hostile text %# as it is',
    async (q) => {
      expect(await found(q)).toEqual([]);
    },
  );

  it.each(['', '   ', 'x'.repeat(2_001), 'x'.repeat(10_000), 'a\u0000b'])(
    'refuses bad text %#',
    async (q) => {
      expect((await find(q)).status).toBe(400);
    },
  );

  it('looks by indexes alone', async () => {
    const names =
      /^(events_find|projects_find|projects_find_named|connections_find_any|connections_find_named|connections_bad|connections_closed|installations_find|members_find|operations_find_any|operations_find_by_record|operations_count_marked|operations_oldest_queued|deliveries_find_any|deliveries_find_by_record|deliveries_find_named|deliveries_count_ended|destinations_count|proxy_log_find|reads_failing|reads_paused|activity_read)$/;
    const statements = declaredStatements().filter(({ name }) => names.test(name));
    expect(statements.length).toBe(22);
    const client = new Client({ connectionString: test.url });
    await client.connect();
    try {
      await client.query('SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off');
      for (const { name, text } of statements) {
        const parameters = Math.max(...[...text.matchAll(/\$(\d+)/g)].map((match) => Number(match[1])));
        await client.query(`PREPARE ${name} AS ${text}`);
        const nulls = Array.from({ length: parameters }, () => 'NULL').join(', ');
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN EXECUTE ${name}(${nulls})`);
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        expect([name, plan]).toEqual([name, expect.not.stringContaining('Seq Scan on')]);
        // Each scan is bounded by the project at least.
        const scans = plan.split(/\n(?=.*->)/).filter((node) => /Index (Only )?Scan|Bitmap Index/.test(node));
        for (const scan of scans) expect([name, scan]).toEqual([name, expect.stringContaining('Index Cond')]);
      }
    } finally {
      await client.end();
    }
  });

  const overview = async (range = 'hour'): Promise<Overview> => {
    const answer = await platform.call<Overview>('GET', `/projects/default/overview?range=${range}`);
    expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
    return answer.body;
  };
  const sum = (counts: readonly number[]): number => counts.reduce((total, one) => total + one, 0);

  it('counts what ended once, by outcome and category, at every range', { timeout: 30_000 }, async () => {
    await expect
      .poll(async () => sum((await overview()).activity.writes.succeeded), { timeout: 8_000 })
      .toBe(3);
    await Promise.all(Array.from({ length: 8 }, () => create(acme, { mode: 'asynchronous' })));
    await acme.write('contacts', { type: 'create', record: { email: 'not an address' } });
    const batch = ['not one either', 'partly@example.com'].map((email) => ({ record: { email } }));
    await acme.write('contacts', { type: 'create', batch });
    for (const range of ['hour', 'day', 'week', 'month'])
      await expect
        .poll(
          async () => {
            const { writes, failures } = (await overview(range)).activity;
            return [sum(writes.succeeded), sum(writes.partlyDone), sum(writes.failed), failures];
          },
          { timeout: 10_000 },
        )
        .toEqual([12, 1, 1, { validation: 1 }]);
    const { writes } = (await overview()).activity;
    const took = writes.p95Ms.findLast((one) => one !== null) ?? 0;
    expect(took).toBeGreaterThan(1);
    expect(took).toBeLessThan(60_000);
  });

  it('tells what needs attention, and each filter finds as many', { timeout: 30_000 }, async () => {
    expect((await overview()).attention).toEqual([]);
    await fault(platform.hubspot, { path: '/companies', times: 1, fault: { kind: 'reset-after' } });
    const lost = await acme.write('companies', { type: 'create', record: { name: 'unknown' } });
    await simulator(platform.hubspot, 'DELETE', '/faults');
    await test.database.raw(`UPDATE connection SET status = 'bad_credentials' WHERE id = $1`, [
      globex.connectionId,
    ]);
    await test.database.raw(
      `INSERT INTO read_feed (project_id, installation_id, object, object_name, started_at, watermark, paused)
      VALUES ($1, $2, 'contacts', 'contacts', now(), now(), 'object')`,
      [platform.projectId, acme.installationId],
    );
    // The first is read, the second was switched off since.
    await test.database.raw(
      `INSERT INTO read_feed (project_id, installation_id, object, object_name, started_at, watermark, failures, schedule)
      VALUES ($1, $2, 'companies', 'companies', now(), now(), 3, '*/30 * * * *'), ($1, $2, 'deals', 'deals', now(), now(), 1, NULL)`,
      [platform.projectId, acme.installationId],
    );
    await test.database.raw(
      `INSERT INTO budget (project_id, connection_id, closed_until, locked_out) VALUES ($1, $2, now() + interval '1 minute', false)`,
      [platform.projectId, acme.connectionId],
    );
    for (const [name, state] of [
      ['refuses', `failing_since = now()`],
      ['refuses-too', `failing_since = now()`],
      ['off', `failing_since = now(), status = 'disabled'`],
    ] as const) {
      const metadata = { url: 'https://hooks.example.com/' };
      await platform.call('POST', '/projects/default/destinations', { name, type: 'webhook', metadata });
      await test.database.raw(`UPDATE destination SET ${state} WHERE name = $1`, [name]);
    }
    const { attention, closedBudgets } = await overview();
    expect(attention.map(({ kind, count: much }) => [kind, much])).toEqual([
      ['unknownOutcomes', 1],
      ['badConnections', 1],
      ['unhealthyInstallations', 1],
      ['disabledDestinations', 1],
      ['failingDestinations', 2],
      ['failingReads', 1],
      ['pausedReads', 1],
    ]);
    expect(closedBudgets).toEqual([
      expect.objectContaining({
        connectionId: acme.connectionId,
        groupRef: 'Acme_Inc',
        provider: 'hubspot',
      }),
    ]);
    const lists = {
      unknownOutcomes: 'operations',
      badConnections: 'connections',
      unhealthyInstallations: 'installations',
      disabledDestinations: 'destinations',
      failingDestinations: 'destinations',
    };
    for (const [kind, list] of Object.entries(lists)) {
      const { filter = {}, count: much } = attention.find((one) => one.kind === kind) ?? {};
      const query = new URLSearchParams({ ...filter, pageSize: '10' }).toString();
      const { body } = await platform.call<{ results: unknown[] }>(
        'GET',
        `/projects/default/${list}?${query}`,
      );
      expect([kind, body.results.length]).toEqual([kind, much]);
    }
    // What was mended no longer needs attention.
    await platform.call('POST', `/projects/default/operations/${lost.body.operationId}:resolve`, {
      resolution: 'notApplied',
    });
    expect((await overview()).attention.map(({ kind }) => kind)).not.toContain('unknownOutcomes');
  });

  it('says which write waits for the longest time, and is not for one group', async () => {
    const ref = newId();
    const wait = (kind: string, refs: string[]): Promise<unknown> =>
      test.database.raw(
        `INSERT INTO work (project_id, ref, lane_id, kind, due_at, deadline)
        SELECT $1, ref, ref, $2, now() + interval '1 hour', now() + interval '2 hours' FROM unnest($3::uuid[]) ref`,
        [platform.projectId, kind, refs],
      );
    await wait('write', [ref, newId()]);
    await wait('read', [newId()]);
    expect((await overview()).oldestQueuedWrite).toEqual({
      operationId: ref,
      seconds: expect.any(Number) as number,
      count: 2,
      countIsComplete: true,
    });
    const asked = await platform.call('GET', '/projects/default/overview', undefined, { key: globexKey });
    expect(asked.status).toBe(403);
  });

  it('finds whole ids in what was pasted, and none by its end', async () => {
    const pasting = await install(platform, 'hubspot-crm', 'pasting');
    const { operationId } = (await create(pasting)).body;
    const operation = `operation ${operationId}`;
    for (const pasted of [
      `${platform.base}/projects/default/operations/${operationId}?tab=records`,
      ` "operationId": "${operationId.toUpperCase()}", `,
      `${'x'.repeat(1_000)} ${operationId}`,
    ])
      expect([pasted, await found(pasted)]).toEqual([pasted, [operation]]);
    expect(await found(`{"operation":"${operationId}","connection":"${pasting.connectionId}"}`)).toEqual([
      operation,
      `connection ${pasting.connectionId}`,
    ]);
    expect(await found(operationId.slice(-12))).toEqual([]);
  });

  it('finds what wrote a record, or failed to, by the provider’s id of it', async () => {
    const initech = await install(platform, 'hubspot-crm', 'initech');
    const written = (await create(initech)).body;
    const recordId = written.result?.recordId ?? '';
    const update = (id: string) =>
      initech.write('contacts', { type: 'update', record: { id, firstname: 'Ada' } });
    const updated = (await update(recordId)).body;
    expect(await found(recordId)).toEqual([
      `operation ${updated.operationId}`,
      `operation ${written.operationId}`,
    ]);
    expect((await find(recordId)).body.hits[0]).toMatchObject({
      name: `contacts ${recordId}`,
      groupRef: 'initech',
    });
    expect(await found(recordId, globexKey)).toEqual([]);
    expect(await found(recordId.slice(0, -1))).toEqual([]);
    const failed = (await update('999999999')).body;
    expect(await found('999999999')).toEqual([`operation ${failed.operationId}`]);
  });
});
