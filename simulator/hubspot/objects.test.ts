import { describe, expect, it } from 'vitest';
import { listOf, str, useHubspot } from './harness.fixture.ts';

const CONTACTS = '/crm/v3/objects/contacts';

describe('simulator/hubspot/objects', () => {
  const hub = useHubspot({ records: 30 });
  const create = (properties: object) => hub.api('POST', CONTACTS, { properties });

  it('keeps values as the strings that were sent', async () => {
    const made = await create({
      email: 'Case@Example.com',
      annualrevenue: 1200.5,
      hs_email_optout: true,
      date_of_birth: '1815-12-10',
      phone: null,
    });
    const id = str(made.body['id']);
    const stored = await hub.sim('GET', `/data/contacts/${id}`);
    expect(stored['properties']).toMatchObject({
      email: 'case@example.com',
      annualrevenue: '1200.5',
      hs_email_optout: 'true',
      date_of_birth: '1815-12-10',
    });
    await hub.api('PATCH', `${CONTACTS}/${id}`, { properties: { annualrevenue: '' } });
    const read = await hub.api('GET', `${CONTACTS}/${id}?properties=annualrevenue,phone&properties=email`);
    expect(read.body['properties']).toMatchObject({
      annualrevenue: null,
      phone: null,
      email: 'case@example.com',
    });
  });

  it.each([
    ['an unknown property', { nope: 'x' }, 'PROPERTY_DOESNT_EXIST'],
    ['a read-only property', { num_associated_deals: '3' }, 'READ_ONLY_VALUE'],
    ['an option that is not allowed', { lifecyclestage: 'wizard' }, 'INVALID_OPTION'],
    ['a number that is none', { annualrevenue: 'lots' }, 'INVALID_INTEGER'],
    ['an e-mail that is none', { email: 'nobody' }, 'INVALID_EMAIL'],
    ['a date that is none', { date_of_birth: 'yesterday' }, 'INVALID_DATE'],
  ])('refuses %s with its code, in the message and in errors', async (_what, properties, code) => {
    const answer = await create(properties);
    const [name] = Object.keys(properties);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      category: 'VALIDATION_ERROR',
      errors: [{ code, context: { propertyName: [name] } }],
    });
    const prefix = 'Property values were not valid: ';
    const message = str(answer.body['message']);
    expect(JSON.parse(message.slice(prefix.length))).toMatchObject([{ isValid: false, error: code, name }]);
    expect(answer.headers.get('x-hubspot-correlation-id')).toBe(answer.body['correlationId']);
  });

  it('joins and appends values of multiple checkboxes', async () => {
    const made = await create({ email: 'roles@example.com', hs_buying_role: 'CHAMPION;BLOCKER' });
    const path = `${CONTACTS}/${str(made.body['id'])}`;
    const appended = await hub.api('PATCH', path, { properties: { hs_buying_role: ';END_USER' } });
    expect(appended.body['properties']).toMatchObject({ hs_buying_role: 'CHAMPION;BLOCKER;END_USER' });
  });

  it('answers 409 with the existing id to a second contact of one e-mail, in any case', async () => {
    const made = await create({ email: 'once@example.com' });
    const again = await create({ email: 'ONCE@example.com' });
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({
      status: 'error',
      category: 'CONFLICT',
      message: `Contact already exists. Existing ID: ${str(made.body['id'])}`,
    });
    await hub.api('DELETE', `${CONTACTS}/${str(made.body['id'])}`);
    expect((await create({ email: 'once@example.com' })).status).toBe(201);
  });

  it('refuses a missing required property and a broken body', async () => {
    const deal = await hub.api('POST', '/crm/v3/objects/deals', { properties: { dealname: 'No stage' } });
    expect(deal.status).toBe(400);
    expect(deal.body).toMatchObject({ context: { properties: ['dealstage'] } });
    const broken = await fetch(`${hub.url}${CONTACTS}`, {
      method: 'POST',
      body: '{"properties":',
      headers: { authorization: `Bearer ${hub.token}` },
    });
    expect(broken.status).toBe(400);
    expect(broken.headers.get('content-type')).toContain('application/json');
  });

  it('names the time of change lastmodifieddate for contacts and hs_lastmodifieddate for the rest', async () => {
    const contact = await hub.api('GET', `${CONTACTS}/501`);
    const company = await hub.api('GET', '/crm/v3/objects/companies/501');
    expect(Object.keys(contact.body['properties'] ?? {})).toContain('lastmodifieddate');
    expect(Object.keys(contact.body['properties'] ?? {})).not.toContain('hs_lastmodifieddate');
    expect(Object.keys(company.body['properties'] ?? {})).toContain('hs_lastmodifieddate');
  });

  it('serves both URL families and every name of a type from one store', async () => {
    const made = await hub.api('POST', '/crm/objects/2026-03/0-1', {
      properties: { email: 'family@example.com' },
    });
    expect(made.status).toBe(201);
    for (const name of ['contacts', 'CONTACT', 'contact', '0-1']) {
      expect((await hub.api('GET', `/crm/v3/objects/${name}/${str(made.body['id'])}`)).status).toBe(200);
    }
    const unknown = await hub.api('GET', '/crm/v3/objects/xyz');
    expect(unknown.body['message']).toBe('Unable to infer object type from: xyz');
  });

  it('shows archived records in the archived list only, with the time of it', async () => {
    const made = await create({ email: 'gone@example.com' });
    const id = str(made.body['id']);
    const path = `${CONTACTS}/${id}`;
    expect((await hub.api('DELETE', path)).status).toBe(204);
    expect((await hub.api('DELETE', path)).status).toBe(204);
    const archived = await hub.api('GET', `${CONTACTS}?archived=true&limit=100`);
    const entry = listOf(archived.body['results']).find((one) => str(one['id']) === id);
    expect(entry).toMatchObject({ archived: true, archivedAt: expect.stringMatching(/^20/) });
    const live = await hub.api('GET', `${CONTACTS}?limit=100`);
    expect(listOf(live.body['results']).some((one) => str(one['id']) === id)).toBe(false);
    const missing = await hub.api('PATCH', path, { properties: { city: 'X' } });
    expect(missing.status).toBe(404);
    expect(missing.body).toMatchObject({ status: 'error', message: 'resource not found' });
  });

  it('answers 204 to the delete of an id that never was, and changes nothing', async () => {
    const { records } = await hub.sim('GET', '/counts');
    expect((await hub.api('DELETE', `${CONTACTS}/987654321`)).status).toBe(204);
    expect((await hub.sim('GET', '/counts'))['records']).toEqual(records);
    expect((await hub.api('DELETE', `${CONTACTS}/nobody`)).status).toBe(404);
  });

  it('refuses a create without properties', async () => {
    const single = await hub.api('POST', CONTACTS, { email: 'top@example.com' });
    expect(single).toMatchObject({ status: 400, body: { category: 'VALIDATION_ERROR' } });
    expect(single.body['message']).toContain('Some required fields were not set: [properties]');
    expect((await hub.api('POST', `${CONTACTS}/batch/create`, { inputs: [{}] })).status).toBe(400);
  });

  it.each(['0x10', '1,200', ' 5', '5 ', 'Infinity', '1_000', '1e', '--1'])(
    'refuses %j as a number',
    async (annualrevenue) => {
      const answer = await create({ email: 'strict@example.com', annualrevenue });
      expect(answer.body).toMatchObject({ errors: [{ code: 'INVALID_INTEGER' }] });
    },
  );

  it.each(['2024-02-30', '01/02/2024', '2024', 'Jan 1 2024', '2024-1-1', '2024-01-01T10:00:00Z', '86400001'])(
    'refuses %j as a date',
    async (date_of_birth) => {
      const answer = await create({ email: 'strict@example.com', date_of_birth });
      expect(answer.body).toMatchObject({ errors: [{ code: 'INVALID_DATE' }] });
    },
  );

  it('answers days and times in ISO 8601, whatever they were written in', async () => {
    const noon = Date.parse('2024-03-01T12:00:00Z');
    const made = await create({ date_of_birth: String(Date.parse('1815-12-10')), email: 'iso@example.com' });
    expect(made.body['properties']).toMatchObject({ date_of_birth: '1815-12-10' });
    const deals = '/crm/v3/objects/deals';
    const closing = async (closedate: unknown) => {
      const properties = { dealname: 'D', dealstage: 'appointmentscheduled', closedate };
      const { body } = await hub.api('POST', deals, { properties });
      return body['properties']?.['closedate'] ?? body['errors'];
    };
    expect(await closing(noon)).toBe('2024-03-01T12:00:00Z');
    expect(await closing('2024-03-01T13:00:00.250+0100')).toBe('2024-03-01T12:00:00.250Z');
    expect(await closing('2024-03-01')).toBe('2024-03-01T00:00:00Z');
    expect(await closing('March 1')).toMatchObject([{ code: 'INVALID_DATE' }]);
    expect(await closing('2024-03-01T12:00:00')).toMatchObject([{ code: 'INVALID_DATE' }]);
  });

  it('ignores associations in an update', async () => {
    const types = [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: 279 }];
    const body = { properties: { city: 'Rome' }, associations: [{ to: { id: '502' }, types }] };
    expect((await hub.api('PATCH', `${CONTACTS}/510`, body)).status).toBe(200);
    const links = await hub.api('GET', '/crm/v4/objects/contacts/510/associations/companies');
    expect(links.text).not.toContain('"toObjectId":502');
  });

  it('keeps the history of a property, newest first', async () => {
    await hub.api('PATCH', `${CONTACTS}/503`, { properties: { city: 'Bern' } });
    await hub.api('PATCH', `${CONTACTS}/503`, { properties: { city: 'Basel' } });
    const read = await hub.api('GET', `${CONTACTS}/503?propertiesWithHistory=city`);
    const history = listOf(read.body['propertiesWithHistory']?.['city']).map((one) => str(one['value']));
    expect(history.slice(0, 2)).toEqual(['Basel', 'Bern']);
    expect((await hub.api('GET', `${CONTACTS}?propertiesWithHistory=city&limit=51`)).status).toBe(400);
  });

  it('refuses list limits and cursors out of range, and unknown methods and paths', async () => {
    expect((await hub.api('GET', `${CONTACTS}?limit=101`)).status).toBe(400);
    expect((await hub.api('GET', `${CONTACTS}?after=abc`)).status).toBe(400);
    expect((await hub.api('PUT', `${CONTACTS}/501`, {})).status).toBe(405);
    expect((await hub.api('GET', '/crm/v3/nothing')).status).toBe(404);
  });
});
