import { describe, expect, it } from 'vitest';
import { listOf, str, useHubspot } from './harness.fixture.ts';

describe('simulator/hubspot/search', () => {
  const hub = useHubspot({ records: 12_000 });
  const search = (body: unknown, type = 'contacts') =>
    hub.api('POST', `/crm/v3/objects/${type}/search`, body);
  const filter = (propertyName: string, operator: string, rest: object = {}) => ({
    filterGroups: [{ filters: [{ propertyName, operator, ...rest }] }],
  });
  const total = async (body: unknown) => Number((await search(body)).body['total']);

  it('gives the first 10,000 results and refuses to go on', async () => {
    const last = await search({ limit: 200, after: '9800' });
    expect(last.status).toBe(200);
    expect(last.body).toMatchObject({ total: 12_000, paging: { next: { after: '10000' } } });
    expect(last.body['paging']?.['next']).not.toHaveProperty('link');
    expect((await search({ limit: 200, after: '10000' })).status).toBe(400);
    expect((await search({ limit: 200, after: 'MTAw' })).body['message']).toMatch(
      /Cannot deserialize value of type/,
    );
  });

  it('continues past the cap with hs_object_id', async () => {
    const capped = await search({
      sorts: [{ propertyName: 'hs_object_id', direction: 'ASCENDING' }],
      limit: 1,
      after: '9999',
    });
    const lastId = str(listOf(capped.body['results'])[0]?.['id']);
    expect(await total(filter('hs_object_id', 'GT', { value: lastId }))).toBe(2000);
  });

  it.each([
    ['more than 200 a page', { limit: 201 }],
    ['two sorts', { sorts: ['city', 'email'] }],
    ['six groups', { filterGroups: Array.from({ length: 6 }, () => ({ filters: [] })) }],
    [
      'seven filters in a group',
      {
        filterGroups: [
          { filters: Array.from({ length: 7 }, () => ({ propertyName: 'city', operator: 'HAS_PROPERTY' })) },
        ],
      },
    ],
    ['an unknown operator', filter('city', 'LIKE', { value: 'x' })],
    ['an unknown property', filter('nope', 'EQ', { value: 'x' })],
    ['a body of more than 3,000 characters', filter('city', 'EQ', { value: 'x'.repeat(3000) })],
  ])('refuses %s', async (_what, body) => {
    expect(await search(body)).toMatchObject({ status: 400, body: { category: 'VALIDATION_ERROR' } });
  });

  it('knows the operators', async () => {
    const all = 12_000;
    const inOslo = await total(filter('city', 'EQ', { value: 'oslo' }));
    expect(inOslo).toBeGreaterThan(0);
    expect(await total(filter('city', 'NEQ', { value: 'Oslo' }))).toBe(all - inOslo);
    expect(await total(filter('city', 'IN', { values: ['oslo'] }))).toBe(inOslo);
    expect(await total(filter('city', 'IN', { values: ['Oslo'] }))).toBe(0);
    expect(await total(filter('city', 'NOT_IN', { values: ['oslo'] }))).toBe(all - inOslo);
    expect(await total(filter('jobtitle', 'NOT_HAS_PROPERTY'))).toBe(all);
    expect(await total(filter('hs_object_id', 'BETWEEN', { value: '501', highValue: '600' }))).toBe(100);
    expect(await total(filter('email', 'CONTAINS_TOKEN', { value: '*lovelace.1*' }))).toBeGreaterThan(0);
    const iso = await total(filter('createdate', 'LT', { value: '2024-06-01T00:00:00Z' }));
    expect(
      await total(filter('createdate', 'LT', { value: String(Date.parse('2024-06-01T00:00:00Z')) })),
    ).toBe(iso);
    expect(await total(filter('associations.company', 'EQ', { value: '501' }))).toBe(10);
    const either = {
      filterGroups: [
        ...filter('hs_object_id', 'EQ', { value: '501' }).filterGroups,
        ...filter('hs_object_id', 'EQ', { value: '502' }).filterGroups,
      ],
    };
    expect(await total(either)).toBe(2);
    expect(await total({ query: 'lovelace' })).toBeGreaterThan(0);
  });

  it('matches on a late index but shows the newest values', async () => {
    await hub.sim('POST', '/settings', { searchLagMs: 30_000 });
    await hub.api('PATCH', '/crm/v3/objects/contacts/505', { properties: { jobtitle: 'Engineer' } });
    expect(await total(filter('jobtitle', 'EQ', { value: 'engineer' }))).toBe(0);
    await hub.sim('POST', '/clock', { advanceMs: 31_000 });
    expect(await total(filter('jobtitle', 'EQ', { value: 'engineer' }))).toBe(1);
    await hub.sim('POST', '/settings', { searchLagMs: 0, freezeIndex: true });
    await hub.api('PATCH', '/crm/v3/objects/contacts/505', { properties: { jobtitle: 'Poet' } });
    const stale = await search({
      ...filter('jobtitle', 'EQ', { value: 'engineer' }),
      properties: ['jobtitle'],
    });
    expect(listOf(stale.body['results'])[0]).toMatchObject({ properties: { jobtitle: 'Poet' } });
    await hub.sim('POST', '/settings', { freezeIndex: false });
    expect(await total(filter('jobtitle', 'EQ', { value: 'poet' }))).toBe(1);
  });

  it('shows a deleted record until the index has heard of it', async () => {
    await hub.sim('POST', '/settings', { searchLagMs: 30_000 });
    const byId = (id: string) => filter('hs_object_id', 'EQ', { value: id });
    await hub.api('DELETE', '/crm/v3/objects/contacts/507');
    await hub.api('POST', '/crm/v3/objects/contacts/gdpr-delete', { objectId: '508' });
    const stale = await search(byId('507'));
    expect(listOf(stale.body['results'])[0]).toMatchObject({ id: '507', archived: false });
    expect(stale.text).not.toContain('archivedAt');
    expect(await total(byId('508'))).toBe(1);
    await hub.sim('POST', '/clock', { advanceMs: 31_000 });
    expect([await total(byId('507')), await total(byId('508'))]).toEqual([0, 0]);
    await hub.sim('POST', '/settings', { searchLagMs: 0 });
  });

  it('indexes changes out of order, each after a lag of its own, and ends with the newest', async () => {
    await hub.sim('POST', '/settings', { searchLagMs: 1000, searchLagJitterMs: 60_000 });
    await hub.sim('POST', '/clock', { freezeAt: '2027-01-01T00:00:00Z' });
    const { accessToken } = await hub.sim('POST', '/tokens', { action: 'issue' });
    const token = str(accessToken);
    const path = '/crm/v3/objects/contacts/';
    const seen = async (title: string): Promise<number> => {
      const body = filter('jobtitle', 'EQ', { value: title });
      return Number((await hub.api('POST', `${path}search`, body, token)).body['total']);
    };
    for (let id = 520; id < 560; id += 1)
      await hub.api('PATCH', path + id, { properties: { jobtitle: 'Early' } }, token);
    for (let id = 520; id < 560; id += 1)
      await hub.api('PATCH', path + id, { properties: { jobtitle: 'Late' } }, token);
    await hub.sim('POST', '/clock', { advanceMs: 30_000 });
    const halfway = [await seen('early'), await seen('late')];
    expect(Math.min(...halfway)).toBeGreaterThan(0);
    expect(halfway[0]! + halfway[1]!).toBeLessThan(40);
    await hub.sim('POST', '/clock', { advanceMs: 31_000 });
    expect([await seen('early'), await seen('late')]).toEqual([0, 40]);
    await hub.sim('POST', '/clock', { shiftMs: 0 });
    await hub.sim('POST', '/settings', { searchLagMs: 0, searchLagJitterMs: 0 });
  });

  it('shows no archived record once the index has heard of it', async () => {
    await hub.api('DELETE', '/crm/v3/objects/contacts/506');
    expect(await total(filter('hs_object_id', 'EQ', { value: '506' }))).toBe(0);
  });
});
