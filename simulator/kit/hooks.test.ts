import { describe, expect, it } from 'vitest';
import { listOf, useHubspot } from '../hubspot/harness.fixture.ts';

const CONTACTS = '/crm/v3/objects/contacts';

describe('simulator/kit/hooks', () => {
  const hub = useHubspot({ records: 30 });

  it('changes the data after the page it names, once', async () => {
    const data = [
      { object: 'contacts', delete: ['515'], records: [{ id: '525', properties: { city: 'Moved' } }] },
    ];
    await hub.sim('POST', '/hooks', { method: 'GET', path: CONTACTS, after: 2, data });
    const page = (after: string) =>
      hub.api('GET', `${CONTACTS}?limit=10&properties=city${after === '' ? '' : `&after=${after}`}`);
    const nextOf = ({ body }: { body: Record<string, unknown> }) =>
      (body['paging'] as { next: { after: string } }).next.after;
    const first = await page('');
    expect((await hub.sim('GET', `/data/contacts/515`))['archived']).toBe(false);
    expect(listOf((await hub.sim('GET', '/hooks'))['hooks'])).toMatchObject([{ seen: 1 }]);
    const second = await page(nextOf(first));
    expect(second.text).toContain('"515"');
    expect((await hub.sim('GET', `/data/contacts/515`))['archived']).toBe(true);
    const third = await page(nextOf(second));
    expect(third.text).toContain('Moved');
    expect((await hub.sim('GET', '/hooks'))['hooks']).toEqual([]);
  });

  it('does not count requests that fail or that are about something else', async () => {
    const data = [{ object: 'contacts', records: [{ properties: { city: 'Never' } }] }];
    await hub.sim('POST', '/hooks', { object: 'contacts', contains: '"limit":3', after: 1, data });
    await hub.api('POST', `${CONTACTS}/search`, { limit: 300 });
    await hub.api('POST', '/crm/v3/objects/companies/search', { limit: 3 });
    expect(listOf((await hub.sim('GET', '/hooks'))['hooks'])).toMatchObject([{ seen: 0 }]);
    await hub.sim('DELETE', '/hooks');
    await expect(hub.sim('POST', '/hooks', { after: 0, data })).rejects.toThrow('after must be');
    await expect(hub.sim('POST', '/hooks', { after: 1 })).rejects.toThrow('data must be');
  });

  it('takes times of creation and change with the data, and counts what there is', async () => {
    const createdAt = '2020-01-02T03:04:05.678Z';
    const records = [{ id: '900', properties: { city: 'Old' }, createdAt, updatedAt: '2021-01-01' }];
    await hub.sim('POST', '/data', { object: 'contacts', records });
    const read = await hub.api('GET', `${CONTACTS}/900`);
    expect(read.body).toMatchObject({
      createdAt,
      updatedAt: '2021-01-01T00:00:00.000Z',
      properties: { createdate: createdAt, lastmodifieddate: '2021-01-01T00:00:00Z' },
    });
    const filters = [{ propertyName: 'lastmodifieddate', operator: 'LT', value: '2022-01-01' }];
    const found = await hub.api('POST', `${CONTACTS}/search`, { filterGroups: [{ filters }] });
    expect(found.body['total']).toBe(1);
    const counts = await hub.sim('GET', '/counts');
    expect(counts['records']).toMatchObject({ contacts: { live: 30, deleted: 1 }, companies: { live: 3 } });
    expect(counts['requests']).toMatchObject({ [`200 GET ${CONTACTS}/900`]: 1 });
    expect(counts['effects']).toMatchObject({ 'delete contacts': 1 });
  });
});
