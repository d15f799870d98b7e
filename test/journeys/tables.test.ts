import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install, simulator, type Customer, type ProblemBody } from '../customer.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../database.ts';
import { startForwarder, type Forwarder } from '../forwarder.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';

const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          mapToName: people
          destination: warehouse
          requiredFields:
            - { fieldName: email, mapToName: email }
            - { fieldName: lastname, mapToName: "$['name']['last']" }
            - { fieldName: gone_at_the_provider, mapToName: gone }
          deletedRecords: { enabled: always }
          backfill: { defaultPeriod: { fullHistory: true } }
          associations: { objects: [companies], schedule: '0 */6 * * *' }
`;

interface DestinationBody extends ProblemBody {
  id: string;
  type: string;
  metadata: Record<string, unknown>;
  secrets?: Record<string, unknown>;
}

describe('test/journeys/tables', () => {
  let test: TestDatabase;
  let warehouse: TestDatabase;
  let wire: Forwarder;
  let first: Platform;
  let second: Platform;
  let metadata: { url: string; schema: string };
  let password: string;
  const base = '/projects/default/destinations';

  beforeAll(async () => {
    [test, warehouse] = await Promise.all([createTestDatabase(), createEmptyDatabase()]);
    await warehouse.database.raw('CREATE SCHEMA crm');
    wire = await startForwarder(warehouse.url);
    const url = new URL(wire.url);
    password = decodeURIComponent(url.password);
    metadata = {
      url: `postgresql://${url.username}@${url.host}${url.pathname}?sslmode=disable`,
      schema: 'crm',
    };
    first = await startPlatform({ databaseUrl: test.url });
    await deploy(first, manifest);
    second = await startPlatform({ databaseUrl: test.url, beside: first });
  }, 60_000);
  afterAll(async () => {
    await second?.stop();
    await first?.stop();
    await wire?.close();
    await Promise.all([test?.drop(), warehouse?.drop()]);
  });

  const call = (
    method: 'GET' | 'POST' | 'PATCH',
    path: string,
    body?: object,
  ): Promise<Answer<DestinationBody>> => first.call<DestinationBody>(method, base + path, body);
  const people = async (where = ''): Promise<Record<string, unknown>[]> =>
    warehouse.database.raw(`SELECT * FROM crm.people ${where}`);

  it('names what is wrong with a database', async () => {
    const refused = async (change: object, secrets: object = { password }): Promise<[number, unknown]> => {
      const body = { name: 'bad', type: 'postgres', metadata: { ...metadata, ...change }, secrets };
      const answer = await call('POST', '', body);
      return [answer.status, answer.body.issues?.map(({ name }) => name)];
    };
    const withPassword = metadata.url.replace('@', ':hunter2@');
    expect(await refused({ url: withPassword })).toEqual([400, ['metadata.url']]);
    expect(await refused({ schema: 'pg_catalog' })).toEqual([400, ['metadata.schema']]);
    expect(await refused({ headers: {} })).toEqual([400, ['metadata.headers']]);
    expect(await refused({}, {})).toEqual([400, ['secrets.password']]);
    expect((await first.call('GET', base)).text).not.toContain('hunter2');
  });

  it('is tried out, and shows its password to those who ask for it only', async () => {
    const made = await call('POST', '', {
      name: 'warehouse',
      type: 'postgres',
      metadata,
      secrets: { password: 'not yet' },
    });
    expect([made.status, made.body.metadata]).toEqual([201, metadata]);
    expect(made.text).not.toContain('not yet');
    const tried = await call('POST', '/warehouse:test');
    expect(tried.body).toMatchObject({
      success: false,
      error: expect.stringMatching(/refused the user.*secrets\.password/) as string,
    });
    const changed = await call('PATCH', '/warehouse', {
      updateMask: ['secrets.password'],
      destination: { secrets: { password } },
    });
    expect([changed.status, changed.text.includes(password)]).toEqual([200, false]);
    expect((await call('POST', '/warehouse:test')).body).toMatchObject({ success: true });
    expect((await call('POST', '/warehouse:rotate', {})).body).toMatchObject({
      detail: expect.stringMatching(/postgres/) as string,
      remedy: expect.stringMatching(/\w/) as string,
    });
    expect((await call('POST', '/warehouse:test')).body).toMatchObject({ success: true });
    expect((await call('GET', '/warehouse')).body.secrets).toBeUndefined();
    expect((await call('GET', '/warehouse?includeSecrets=true')).body.secrets).toEqual({ password });
  });

  it('§2.4 has each record of the provider as a row, through lost connections and two nodes', async () => {
    const properties = (at: number): object => ({ email: `p${at}@example.com`, lastname: `Last ${at}` });
    const records = Array.from({ length: 1_500 }, (_one, at) => ({ properties: properties(at) }));
    await simulator(first.hubspot, 'POST', '/data', { object: 'contacts', records });
    // For a second: a delivery that fails is sent again after five seconds, and one that fails twice after minutes.
    const cuts = setInterval(() => {
      wire.cut('refuse');
      wire.heal();
    }, 100);
    setTimeout(() => clearInterval(cuts), 1_000);
    const at: Customer = await install(first, 'hubspot-crm', 'tables', {
      read: { objects: { contacts: { objectName: 'contacts' } } },
    });
    const standing = (
      await simulator<{ records: { id: string; properties: Record<string, string>; archived: boolean }[] }>(
        first.hubspot,
        'GET',
        '/data/contacts',
      )
    ).records.filter(({ archived }) => !archived);
    await expect
      .poll(async () => (await people().catch(() => [])).length, { timeout: 60_000, interval: 200 })
      .toBe(standing.length);
    const rows = new Map((await people()).map((row) => [row['record_id'], row]));
    const wrong = standing.filter(({ id, properties: { email, lastname } }) => {
      const row = rows.get(id);
      const name = row?.['name'] as { last?: string } | null | undefined;
      return row?.['email'] !== (email ?? null) || (name?.last ?? null) !== (lastname ?? null);
    });
    expect(wrong).toEqual([]);
    expect([...rows.values()].every((row) => row['installation_id'] === at.installationId)).toBe(true);
    // No record has it: its column is there by the mapping alone.
    expect(rows.get(standing[0]?.id)).toHaveProperty('gone', null);
  }, 120_000);

  it('writes a row again when its associations alone changed', async () => {
    const [before] = await people(`WHERE associations = '{"companies": []}' LIMIT 1`);
    const id = String(before?.['record_id']);
    const data = (body: object): Promise<{ ids: string[] }> =>
      simulator(first.hubspot, 'POST', '/data', body);
    const { ids: toIds } = await data({ object: 'companies', records: [{ properties: { name: 'Acme' } }] });
    const comparing = async (): Promise<unknown> =>
      (
        await test.database.raw(
          `SELECT FROM read_feed WHERE kind = 'associations' AND watermark > started_at`,
        )
      ).length;
    await expect.poll(comparing, { timeout: 30_000 }).toBe(1);
    await data({ object: 'contacts', associate: [{ id, to: 'companies', toIds }] });
    await simulator(first.hubspot, 'POST', '/clock', { advanceMs: 7 * 3_600_000 });
    await test.database.raw(`UPDATE clock SET shift = shift + interval '7 hours'`);
    const row = async (): Promise<Record<string, unknown> | undefined> =>
      (await people(`WHERE record_id = '${id}'`))[0];
    await expect
      .poll(async () => (await row())?.['associations'], { timeout: 30_000 })
      .toMatchObject({ companies: [{ id: toIds[0], rawObjectName: 'companies' }] });
    const after = await row();
    expect(after?.['_svc_version']).toBe(before?.['_svc_version']);
    expect(BigInt(String(after?.['_svc_seq']))).toBeGreaterThan(BigInt(String(before?.['_svc_seq'])));
  }, 90_000);
});
