import { ApiException } from '@hubspot/api-client/lib/codegen/crm/contacts/index.js';
import { FilterOperatorEnum } from '@hubspot/api-client/lib/codegen/crm/contacts/models/Filter.js';
import { AssociationSpecAssociationCategoryEnum as Category } from '@hubspot/api-client/lib/codegen/crm/contacts/models/AssociationSpec.js';
import { AssociationSpecAssociationCategoryEnum as LinkCategory } from '@hubspot/api-client/lib/codegen/crm/associations/v4/models/AssociationSpec.js';
import { describe, expect, it } from 'vitest';
import { useHubspot } from './harness.fixture.ts';

describe('simulator/hubspot/client', () => {
  const hub = useHubspot({ records: 250 });
  const contacts = () => hub.client.crm.contacts;

  it('creates, reads, updates and deletes a contact', async () => {
    const made = await contacts().basicApi.create({
      properties: { email: 'Ada@Example.com', firstname: 'Ada' },
    });
    expect(made.properties['email']).toBe('ada@example.com');
    expect(made.createdAt).toBeInstanceOf(Date);
    const read = await contacts().basicApi.getById(made.id, ['firstname', 'phone']);
    expect(read.properties).toMatchObject({ firstname: 'Ada', phone: null, hs_object_id: made.id });
    const changed = await contacts().basicApi.update(made.id, { properties: { firstname: 'Augusta' } });
    expect(changed.properties['firstname']).toBe('Augusta');
    const byEmail = await contacts().basicApi.getById(
      'ADA@example.com',
      ['firstname'],
      undefined,
      undefined,
      false,
      'email',
    );
    expect(byEmail.properties['firstname']).toBe('Augusta');
    await contacts().basicApi.archive(made.id);
    await contacts().basicApi.archive(made.id);
    await expect(contacts().basicApi.getById(made.id)).rejects.toMatchObject({ code: 404 });
    const archived = await contacts().basicApi.getById(made.id, undefined, undefined, undefined, true);
    expect(archived.archived).toBe(true);
    expect(archived.archivedAt).toBeInstanceOf(Date);
  });

  it('throws ApiException with the parsed body of an error', async () => {
    const error = await contacts()
      .basicApi.create({ properties: { nope: 'x' } })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiException);
    const { code, body } = error as ApiException<unknown>;
    expect(code).toBe(400);
    expect(body).toMatchObject({ category: 'VALIDATION_ERROR', errors: [{ code: 'PROPERTY_DOESNT_EXIST' }] });
  });

  it('creates, reads, updates, upserts and archives in batches', async () => {
    const inputs = Array.from({ length: 20 }, (_, i) => ({
      properties: { email: `batch-${i}@example.com`, firstname: `B${i}` },
      associations: [],
    }));
    const made = await contacts().batchApi.create({ inputs });
    expect(made.results).toHaveLength(20);
    const ids = made.results.map((one) => one.id);
    const read = await contacts().batchApi.read({
      inputs: [{ id: 'batch-3@example.com' }],
      idProperty: 'email',
      properties: ['firstname'],
      propertiesWithHistory: [],
    });
    expect(read.results[0]?.properties['firstname']).toBe('B3');
    const updated = await contacts().batchApi.update({
      inputs: ids.map((id) => ({ id, properties: { city: 'Oslo' } })),
    });
    expect(updated.results.every((one) => one.properties['city'] === 'Oslo')).toBe(true);
    const upserted = await contacts().batchApi.upsert({
      inputs: ['batch-0@example.com', 'fresh@example.com'].map((id) => ({
        id,
        idProperty: 'email',
        properties: { city: 'Riga' },
      })),
    });
    expect(new Set(upserted.results.map((one) => one._new))).toEqual(new Set([false, true]));
    await contacts().batchApi.archive({ inputs: ids.map((id) => ({ id })) });
    await expect(contacts().basicApi.getById(ids[0]!)).rejects.toMatchObject({ code: 404 });
  });

  it('lists page by page, each record once', async () => {
    const { count } = await hub.sim('GET', '/data/companies');
    const all = await hub.client.crm.companies.getAll(10);
    expect(new Set(all.map((one) => one.id)).size).toBe(count);
    const first = await contacts().basicApi.getPage(100, undefined, ['email'], undefined, ['companies']);
    expect(first.results).toHaveLength(100);
    expect(first.results[0]?.associations?.['companies']?.results[0]?.id).toBeTypeOf('string');
    const second = await contacts().basicApi.getPage(100, first.paging?.next?.after);
    expect(second.results[0]?.id).toBe(first.paging?.next?.after);
  });

  it('searches with a filter, one sort and paging', async () => {
    const request = {
      filterGroups: [
        {
          filters: [
            { propertyName: 'createdate', operator: FilterOperatorEnum.Gte, value: '2024-06-01T00:00:00Z' },
          ],
        },
      ],
      sorts: ['-hs_object_id'],
      properties: ['email'],
      limit: 40,
    };
    const seen: string[] = [];
    let after: string | undefined;
    let total = 0;
    do {
      const page = await contacts().searchApi.doSearch({ ...request, ...(after ? { after } : {}) });
      seen.push(...page.results.map((one) => one.id));
      after = page.paging?.next?.after;
      total = page.total;
    } while (after);
    expect(seen).toHaveLength(total);
    expect(seen.length).toBeGreaterThan(80);
    expect(seen).toEqual([...seen].sort((a, b) => Number(b) - Number(a)));
  });

  it('associates records at creation and through v4', async () => {
    const company = await hub.client.crm.companies.basicApi.create({
      properties: { name: 'Analytical Engines' },
    });
    const contact = await contacts().basicApi.create({
      properties: { email: 'linked@example.com' },
      associations: [
        {
          to: { id: company.id },
          types: [{ associationCategory: Category.HubspotDefined, associationTypeId: 1 }],
        },
      ],
    });
    const v4 = hub.client.crm.associations.v4;
    const page = await v4.basicApi.getPage('contacts', contact.id, 'companies');
    expect(page.results[0]?.associationTypes.map((one) => one.typeId).sort()).toEqual([1, 279]);
    await v4.basicApi.archive('contacts', contact.id, 'companies', company.id);
    expect((await v4.basicApi.getPage('contacts', contact.id, 'companies')).results).toEqual([]);
    const labelled = await v4.basicApi.create('contacts', contact.id, 'companies', company.id, [
      { associationCategory: LinkCategory.HubspotDefined, associationTypeId: 279 },
    ]);
    expect(labelled).toMatchObject({ toObjectId: Number(company.id) });
    await v4.basicApi.createDefault('contact', contact.id, 'company', company.id);
    const pair = { _from: { id: contact.id }, to: { id: company.id } };
    const spec = { associationCategory: LinkCategory.HubspotDefined, associationTypeId: 1 };
    const made = await v4.batchApi.create('contacts', 'companies', { inputs: [{ ...pair, types: [spec] }] });
    expect(made.results).toHaveLength(1);
    const read = await v4.batchApi.getPage('contacts', 'companies', {
      inputs: [{ id: contact.id }, { id: '999999' }],
    });
    expect(read.results[0]?._from.id).toBe(contact.id);
    expect(read).toMatchObject({ numErrors: 1 });
    await v4.batchApi.archive('contacts', 'companies', { inputs: [{ _from: pair._from, to: [pair.to] }] });
    const labels = await v4.schema.definitionsApi.getAll('contacts', 'companies');
    expect(labels.results.map((one) => one.label)).toContain('Primary');
  });

  it('defines properties and groups, and enforces a unique one', async () => {
    const { crm } = hub.client;
    await crm.properties.groupsApi.create('contacts', { name: 'ours', label: 'Ours', displayOrder: 1 });
    const input = {
      name: 'external_id',
      label: 'External',
      type: 'string',
      fieldType: 'text',
      groupName: 'ours',
    };
    await crm.properties.coreApi.create('contacts', { ...input, hasUniqueValue: true } as never);
    await expect(crm.properties.coreApi.create('contacts', input as never)).rejects.toMatchObject({
      code: 409,
      body: { category: 'OBJECT_ALREADY_EXISTS', subCategory: 'Properties.PROPERTY_WITH_NAME_EXISTS' },
    });
    const upsert = (id: string) =>
      contacts().batchApi.upsert({
        inputs: [{ id, idProperty: 'external_id', properties: { firstname: 'U' } }],
      });
    expect((await upsert('x-1')).results[0]?._new).toBe(true);
    expect((await upsert('x-1')).results[0]?._new).toBe(false);
    await expect(contacts().basicApi.create({ properties: { external_id: 'x-1' } })).rejects.toMatchObject({
      code: 400,
    });
    const all = await crm.properties.coreApi.getAll('contacts');
    const email = all.results.find((one) => one.name === 'email');
    expect(email).toMatchObject({ type: 'string', hasUniqueValue: true, hubspotDefined: true });
    const changed = await crm.properties.coreApi.update('contacts', 'external_id', { label: 'Their id' });
    expect(changed.label).toBe('Their id');
    await crm.properties.coreApi.archive('contacts', 'external_id');
    await expect(crm.properties.coreApi.getByName('contacts', 'external_id')).rejects.toMatchObject({
      code: 404,
    });
  });

  it('makes a custom object and records of it', async () => {
    const schema = await hub.client.crm.schemas.coreApi.create({
      name: 'car',
      labels: { singular: 'Car', plural: 'Cars' },
      requiredProperties: ['vin'],
      searchableProperties: ['vin'],
      primaryDisplayProperty: 'vin',
      secondaryDisplayProperties: [],
      associatedObjects: ['CONTACT'],
      properties: [{ name: 'vin', label: 'VIN', type: 'string', fieldType: 'text', hasUniqueValue: true }],
    } as never);
    expect(schema.objectTypeId).toMatch(/^2-\d+$/);
    const listed = await hub.client.crm.schemas.coreApi.getAll();
    expect(listed.results.map((one) => one.name)).toEqual(['car']);
    const made = await hub.client.crm.objects.basicApi.create(schema.objectTypeId!, {
      properties: { vin: 'W1' },
    });
    expect(made.properties['hs_lastmodifieddate']).toBeTypeOf('string');
    const byName = await hub.client.crm.objects.basicApi.getById(schema.fullyQualifiedName!, made.id, [
      'vin',
    ]);
    expect(byName.properties['vin']).toBe('W1');
    await expect(hub.client.crm.objects.basicApi.create('car', { properties: {} })).rejects.toMatchObject({
      code: 400,
    });
  });

  it('serves pipelines and owners, and checks values against them', async () => {
    const pipelines = await hub.client.crm.pipelines.pipelinesApi.getAll('deals');
    const stage = pipelines.results[0]!.stages[0]!.id;
    const owners = await hub.client.crm.owners.ownersApi.getPage();
    const properties = { dealname: 'D', dealstage: stage, hubspot_owner_id: owners.results[0]!.id };
    const deal = await hub.client.crm.deals.basicApi.create({ properties });
    expect(deal.properties['pipeline']).toBe('default');
    const bad = { ...properties, dealstage: 'nowhere' };
    await expect(hub.client.crm.deals.basicApi.create({ properties: bad })).rejects.toMatchObject({
      body: { errors: [{ code: 'INVALID_OPTION' }] },
    });
  });

  it('merges contacts into a new one that both old ids lead to', async () => {
    const [primary, other] = await Promise.all(
      ['win@example.com', 'lose@example.com'].map((email) =>
        contacts().basicApi.create({ properties: { email, city: email } }),
      ),
    );
    const ids = [primary!.id, other!.id];
    await contacts().basicApi.update(other!.id, { properties: { phone: '123' } });
    const merged = await contacts().basicApi.merge({ primaryObjectId: ids[0]!, objectIdToMerge: ids[1]! });
    expect(ids).not.toContain(merged.id);
    for (const id of [...ids, merged.id]) {
      const read = await contacts().basicApi.getById(id, ['email', 'phone', 'city', 'hs_merged_object_ids']);
      expect(read.id).toBe(merged.id);
      expect(read.properties).toMatchObject({
        email: 'win@example.com',
        phone: '123',
        city: 'win@example.com',
        hs_merged_object_ids: ids.join(';'),
      });
    }
    const property = await hub.client.crm.properties.coreApi.getByName('contacts', 'hs_merged_object_ids');
    expect(property).toMatchObject({ type: 'enumeration', fieldType: 'checkbox', options: [] });
    const filter = { propertyName: property.name, operator: FilterOperatorEnum.HasProperty };
    const found = await contacts().searchApi.doSearch({ filterGroups: [{ filters: [filter] }], limit: 10 });
    expect(found.results.map(({ id }) => id)).toEqual([merged.id]);
    for (const archived of [false, true]) {
      const listed = await contacts().basicApi.getPage(100, String(Number(ids[0]) - 1), [], [], [], archived);
      expect(listed.results.filter(({ id }) => ids.includes(id))).toEqual([]);
    }
    await contacts().basicApi.update(ids[1]!, { properties: { city: 'Bern' } });
    expect((await contacts().basicApi.getById(merged.id, ['city'])).properties['city']).toBe('Bern');
    const [byAddress, added] = ['lose@example.com', 'hs_additional_emails'] as const;
    const byOther = await contacts().basicApi.getById(byAddress, [added], [], [], false, 'email');
    expect([byOther.id, byOther.properties[added]]).toEqual([merged.id, byAddress]);
    await expect(contacts().basicApi.create({ properties: { email: byAddress } })).rejects.toMatchObject({
      code: 409,
    });
    const again = await contacts().basicApi.create({ properties: { email: 'third@example.com' } });
    const twice = await contacts().basicApi.merge({ primaryObjectId: again.id, objectIdToMerge: merged.id });
    expect((await contacts().basicApi.getById(ids[0]!)).id).toBe(twice.id);
    await contacts().basicApi.purge({ objectId: twice.id });
    await expect(
      contacts().basicApi.getById(twice.id, undefined, undefined, undefined, true),
    ).rejects.toMatchObject({ code: 404 });
  });

  it('exchanges a code and refreshes', async () => {
    const redirect = 'http://127.0.0.1:1/callback';
    const page = new URL(
      hub.client.oauth.getAuthorizationUrl(
        'app-1',
        redirect,
        'oauth crm.objects.contacts.read',
        undefined,
        's1',
      ),
    );
    const answer = await fetch(`${hub.url}${page.pathname}${page.search}`, { redirect: 'manual' });
    const back = new URL(answer.headers.get('location')!);
    expect(back.searchParams.get('state')).toBe('s1');
    const { tokensApi } = hub.client.oauth;
    const code = back.searchParams.get('code')!;
    const first = await tokensApi.create('authorization_code', code, redirect, 'app-1', 'secret');
    expect(first).toMatchObject({ tokenType: 'bearer', expiresIn: 1800 });
    expect(first.accessToken.length).toBeGreaterThan(300);
    const again = await tokensApi.create(
      'refresh_token',
      undefined,
      undefined,
      'app-1',
      'secret',
      first.refreshToken,
    );
    expect(again.refreshToken).toBe(first.refreshToken);
    expect(again.accessToken).not.toBe(first.accessToken);
    const info = await hub.client.oauth.accessTokensApi.get(again.accessToken);
    expect(info.scopes).toEqual(['oauth', 'crm.objects.contacts.read']);
    await expect(
      tokensApi.create('authorization_code', code, redirect, 'app-1', 'secret'),
    ).rejects.toMatchObject({ code: 400 });
  });

  it('answers raw calls for the account', async () => {
    const details = await hub.client.apiRequest({ path: '/account-info/v3/details' });
    expect(await details.json()).toMatchObject({ portalId: 244001, uiDomain: 'app.hubspot.com' });
  });
});
