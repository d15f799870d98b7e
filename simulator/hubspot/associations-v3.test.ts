import { describe, expect, it } from 'vitest';
import { listOf, useHubspot } from './harness.fixture.ts';

const one = '/crm/v3/objects/contacts/501/associations/companies';

describe('simulator/hubspot/associations-v3', () => {
  const hub = useHubspot({ records: 30 });
  const batch = () => hub.client.crm.associations.batchApi;
  const pair = (type: string) => ({ _from: { id: '503' }, to: { id: '502' }, type });

  it('names types instead of numbering them, to the official client', async () => {
    const types = await hub.client.crm.associations.schema.typesApi.getAll('contacts', 'companies');
    expect(types.results).toMatchObject([
      { id: '279', name: 'contact_to_company_unlabeled' },
      { id: '1', name: 'contact_to_company' },
    ]);
    const made = await batch().create('contacts', 'companies', { inputs: [pair('contact_to_company')] });
    expect(made.results).toMatchObject([pair('contact_to_company')]);
    const read = await batch().read('contacts', 'companies', { inputs: [{ id: '503' }] });
    expect(read.results[0]?.to).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: '502', type: 'contact_to_company' })]),
    );
    await batch().archive('contacts', 'companies', { inputs: [pair('contact_to_company')] });
    const after = await batch().read('contacts', 'companies', { inputs: [{ id: '503' }] });
    expect(after.results[0]?.to).not.toEqual(
      expect.arrayContaining([expect.objectContaining({ id: '502', type: 'contact_to_company' })]),
    );
  });

  it('lists, sets and takes off associations of one record', async () => {
    const put = await hub.api('PUT', `${one}/502/contact_to_company_unlabeled`);
    expect(put).toMatchObject({ status: 200, body: { id: '501' } });
    const listed = await hub.api('GET', one);
    expect(listOf(listed.body['results'])).toEqual(
      expect.arrayContaining([{ id: '502', type: 'contact_to_company_unlabeled' }]),
    );
    expect((await hub.api('DELETE', `${one}/502/contact_to_company_unlabeled`)).status).toBe(204);
    expect((await hub.api('GET', one)).text).not.toContain('"502"');
    expect((await hub.api('PUT', `${one}/502/nothing_of_the_kind`)).status).toBe(400);
    expect((await hub.api('PUT', `${one}/999999/279`)).status).toBe(400);
  });

  it('keeps the shape of version 4 where version 4 is asked', async () => {
    await hub.api('PUT', `${one}/503/279`);
    for (const path of ['/crm/v4/objects', '/crm/objects/2026-03']) {
      const { body } = await hub.api('GET', `${path}/contacts/501/associations/companies`);
      expect(listOf(body['results'])[0]).toHaveProperty('associationTypes');
    }
    const none = await hub.api('POST', '/crm/v3/associations/contacts/deals/batch/read', {
      inputs: [{ id: '502' }],
    });
    expect(none).toMatchObject({ status: 207, body: { numErrors: 1 } });
  });
});
