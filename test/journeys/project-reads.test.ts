import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fault, type Customer, type ProblemBody } from '../customer.ts';
import type { CallOptions } from '../platform.ts';
import { ReadWorld, type ReadStateBody } from '../read-world.ts';

type Entry = ReadStateBody & {
  status: string;
  installationId: string;
  integrationId: string;
  groupRef: string;
};
interface Page {
  results: Entry[];
  pagination: { done: boolean; nextPageToken?: string };
}

const path = '/projects/default/reads';

describe('test/journeys/project-reads', () => {
  let world: ReadWorld;
  let acme: Customer;
  let globex: Customer;
  let linked: Customer;

  beforeAll(async () => {
    world = await ReadWorld.open();
    const contacts = { objectName: 'contacts' };
    const history = { backfill: { defaultPeriod: { fullHistory: true } } };
    // Its destination is not there, so that its history waits.
    const tickets = { objectName: 'tickets', selectedFieldsAuto: 'all', ...history };
    acme = await world.customer({ read: { objects: { contacts, tickets } } });
    const companies = { objectName: 'companies', selectedFieldsAuto: 'all', disabled: true };
    globex = await world.customer({ read: { objects: { contacts, companies } } });
    linked = await world.customer({ read: { objects: { contacts } } }, 'hubspot-links');
    await world.history(linked, 'contacts');
    await world.stateOf(globex, 'contacts');
    const body = { objects: ['people'], note: 'moving' };
    await world.first.call('POST', `/read/v1${world.place(acme)}:pause`, body);
    await failOnce();
    await setFeed(linked, 'associations', { paused: 'failures' });
  }, 90_000);
  afterAll(() => world?.close());

  /** A run of the contacts of globex that the provider refuses; a run of others may meet the refusal first. */
  async function failOnce(): Promise<void> {
    await setFeed(linked, 'records', { paused: 'object' });
    const refusal = { kind: 'status', status: 400 };
    let status = '';
    for (let left = 5; status !== 'failure' && left > 0; left -= 1) {
      await fault(world.first.hubspot, { path: '/contacts/search', times: 1, fault: refusal });
      status = (await world.tick(globex, 'contacts')).status;
    }
    expect(status).toBe('failure');
    await setFeed(linked, 'records', { paused: null });
  }
  const setFeed = (
    { installationId }: Customer,
    kind: string,
    { paused, object = 'contacts' }: { paused: string | null; object?: string },
  ) =>
    world.test.database.raw(
      `UPDATE read_feed SET paused = $4, paused_at = CASE WHEN $4::text IS NULL THEN NULL ELSE svc_now() END
      WHERE installation_id = $1 AND object = $2 AND kind = $3`,
      [installationId, object, kind, paused],
    );
  const ask = (query: Record<string, string> = {}, options: CallOptions = {}) =>
    world.first.call<Page & ProblemBody>(
      'GET',
      `${path}?${new URLSearchParams(query).toString()}`,
      undefined,
      options,
    );
  const list = async (query?: Record<string, string>, options?: CallOptions): Promise<Entry[]> => {
    const { status, text, body } = await ask(query, options);
    expect([status, text]).toEqual([200, text]);
    expect(body.pagination).toEqual({ done: true });
    return body.results;
  };
  const told = (entries: readonly Entry[]): string[] =>
    entries.map(({ groupRef, objectName, status }) => `${groupRef} ${objectName} ${status}`);

  it('has the group with what was paused in the audit log', async () => {
    const paused = await world.first.call<{ results: object[] }>(
      'GET',
      `/projects/default/audit-log?action=read.paused&groupRef=${acme.groupRef}`,
    );
    expect(paused.body.results).toMatchObject([{ details: { groupRef: acme.groupRef, note: 'moving' } }]);
  });

  it('shows of all customers at once what is paused, fails, runs and works', async () => {
    const [a, g, l] = [acme.groupRef, globex.groupRef, linked.groupRef];
    await expect
      .poll(async () => told(await list()), { timeout: 20_000 })
      .toEqual([
        `${a} contacts paused`,
        `${a} deals idle`,
        `${a} tickets running`,
        `${g} companies disabled`,
        `${g} contacts failing`,
        `${g} deals idle`,
        `${l} contacts paused`,
      ]);
    const failing = (await list()).find(({ status }) => status === 'failing');
    expect(failing).toMatchObject({
      installationId: globex.installationId,
      mappedObjectName: 'people',
      schedule: '*/30 * * * *',
      destination: 'inbox',
      failures: 1,
      lastRun: { status: 'failure', emitted: 0, delivered: 0 },
    });
    expect(Date.parse(failing?.nextRunTime ?? '')).toBeGreaterThan(world.now() - 60_000);
  });

  it('shows of each read what its installation shows of it', async () => {
    for (const customer of [acme, globex, linked]) {
      const own = await world.first.call<ReadStateBody[]>('GET', `${world.place(customer)}/reads`);
      const listed = await list({ installationId: customer.installationId });
      const states = listed.map(({ installationId, integrationId, groupRef, ...state }) => {
        expect([installationId, groupRef]).toEqual([customer.installationId, customer.groupRef]);
        expect(integrationId).toMatch(/^[\da-f-]{36}$/);
        return state;
      });
      const byName = (one: ReadStateBody, other: ReadStateBody): number =>
        one.objectName < other.objectName ? -1 : 1;
      expect(states).toEqual(own.body.toSorted(byName));
    }
  });

  it('finds by status, group, installation and object, and what fits all of them', async () => {
    const all = await list();
    for (const status of ['removed', 'paused', 'disabled', 'failing', 'running', 'idle'])
      expect(told(await list({ status }))).toEqual(told(all.filter((one) => one.status === status)));
    const { groupRef } = globex;
    expect(told(await list({ groupRef }))).toEqual(told(all.filter((one) => one.groupRef === groupRef)));
    expect(told(await list({ object: 'Deals' }))).toEqual(
      told(all.filter(({ objectName }) => objectName === 'deals')),
    );
    expect(told(await list({ groupRef, object: 'contacts', status: 'failing' }))).toEqual([
      `${groupRef} contacts failing`,
    ]);
    expect(await list({ groupRef, installationId: acme.installationId })).toEqual([]);
    for (const name of ['groupRef', 'installationId', 'object'])
      expect(await list({ [name]: 'nothing' })).toEqual([]);
  });

  it('counts as many paused reads as its filter finds', async () => {
    const overview = await world.first.call<{ attention: { kind: string; count: number; filter: object }[] }>(
      'GET',
      '/projects/default/overview',
    );
    const found = overview.body.attention.find(({ kind }) => kind === 'pausedReads');
    expect(found).toEqual({ kind: 'pausedReads', count: 2, filter: { status: 'paused' } });
    expect(await list({ status: 'paused' })).toHaveLength(2);
  });

  it('shows what a deploy took away', async () => {
    await setFeed(acme, 'records', { paused: 'removed', object: 'deals' });
    expect(told(await list({ status: 'removed' }))).toEqual([`${acme.groupRef} deals removed`]);
    await setFeed(acme, 'records', { paused: null, object: 'deals' });
    expect(await list({ status: 'removed' })).toEqual([]);
  });

  it('is paged, and has each read once for any page size', async () => {
    for (const query of [{}, { groupRef: acme.groupRef }, { status: 'idle' }] as Record<string, string>[]) {
      const whole = told(await list(query));
      for (const pageSize of ['1', '2', '3', '1000']) {
        const seen: Entry[] = [];
        let page = (await ask({ ...query, pageSize })).body;
        seen.push(...page.results);
        while (page.pagination.nextPageToken !== undefined) {
          expect(page.results.length).toBeLessThanOrEqual(Number(pageSize));
          page = (await ask({ ...query, pageSize, pageToken: page.pagination.nextPageToken })).body;
          seen.push(...page.results);
        }
        expect([pageSize, told(seen)]).toEqual([pageSize, whole]);
      }
    }
  });

  it('refuses a page token that was made with another filter', async () => {
    const { body } = await ask({ pageSize: '1' });
    const { nextPageToken: pageToken = '' } = body.pagination;
    const { installationId, groupRef } = globex;
    for (const query of [{ installationId }, { groupRef }] as Record<string, string>[])
      expect((await ask({ ...query, pageToken })).status).toBe(400);
  });

  it('shows to the key of a group only the reads of that group, and nothing to a caller who may not read', async () => {
    const keyFor = async (body: Record<string, unknown>): Promise<CallOptions> => {
      const given = { label: 'looks', ...body };
      const made = await world.first.call<{ key: string }>('POST', '/projects/default/api-keys', given);
      return { key: made.body.key };
    };
    const { groupRef } = globex;
    const theirs = await keyFor({ scopes: ['read'], groupRef });
    expect(told(await list({}, theirs))).toEqual(told(await list({ groupRef })));
    expect(await list({ status: 'paused' }, theirs)).toEqual([]);
    expect(await list({ groupRef: acme.groupRef }, theirs)).toEqual([]);
    expect(await list({ installationId: acme.installationId }, theirs)).toEqual([]);
    expect((await ask({}, await keyFor({ scopes: ['write'] }))).status).toBe(403);
  });

  it.each([
    [{ status: 'broken' }, 'status'],
    [{ state: 'failing' }, 'state'],
    [{ pageSize: '0' }, 'pageSize'],
    [{ pageToken: 'zzz' }, 'pageToken'],
    [{ pageToken: Buffer.from(`${'0'.repeat(36)} contacts`).toString('base64url') }, 'pageToken'],
  ] as [Record<string, string>, string][])('refuses %j and names what is wrong', async (query, name) => {
    const { status, body } = await ask(query);
    expect([status, body.code]).toEqual([400, 'invalid-request']);
    expect(body.issues).toMatchObject([{ in: 'query', name }]);
  });
});
