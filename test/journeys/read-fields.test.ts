import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, install, simulator, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { startReceiver, type Receiver } from '../receiver.ts';

const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          destination: inbox
          requiredFields: [{ fieldName: lastname }]
          optionalFieldsAuto: all
        - objectName: companies
          destination: inbox
          requiredFields: [{ fieldName: name }]
`;

describe('test/journeys/read-fields', () => {
  let test: TestDatabase;
  let platform: Platform;
  let receiver: Receiver;
  let customer: Customer;
  beforeAll(async () => {
    test = await createTestDatabase();
    receiver = await startReceiver();
    platform = await startPlatform({ databaseUrl: test.url, records: 0 });
    await deploy(platform, manifest);
    const inbox = { name: 'inbox', type: 'webhook', metadata: { url: receiver.url } };
    await platform.call('POST', '/projects/default/destinations', inbox);
    const contacts = { objectName: 'contacts' };
    const companies = { objectName: 'companies' };
    customer = await install(platform, 'hubspot-crm', 'g1', { read: { objects: { contacts, companies } } });
  }, 60_000);
  afterAll(async () => {
    await platform?.stop();
    await receiver?.close();
    await test?.drop();
  });

  async function save(chosen: object): Promise<void> {
    const place = `/projects/default/integrations/hubspot-crm/installations/${customer.installationId}`;
    const contacts = { objectName: 'contacts', ...chosen };
    const saved = await platform.call('PATCH', place, {
      updateMask: ['config.content.read.objects.contacts'],
      installation: { config: { content: { read: { objects: { contacts } } } } },
    });
    expect([saved.status, saved.text]).toEqual([200, expect.any(String)]);
  }

  async function read(): Promise<{ status: string; fields: Record<string, unknown>[] }> {
    const before = receiver.entries().length;
    const path = '/read/v1/projects/default/integrations/hubspot-crm/objects/contacts';
    const asked = await platform.call<{ operationId: string }>('POST', path, {
      groupRef: customer.groupRef,
      mode: 'async',
    });
    await expect
      .poll(async () => (await customer.operation(asked.body.operationId)).status, { timeout: 10_000 })
      .not.toBe('in_progress');
    await expect.poll(() => receiver.entries().length, { timeout: 10_000 }).toBe(before + 1);
    const { status } = await customer.operation(asked.body.operationId);
    return {
      status,
      fields: receiver
        .entries()
        .slice(before)
        .map(({ fields }) => fields),
    };
  }

  it.each([
    ['a field', 'tier', { selectedFields: { tier: true } }],
    ['by a field', 'level', { fieldFilters: [{ fieldName: 'level', operator: 'eq', value: 'gold' }] }],
  ])(
    'reads %s that the account got since its fields were asked for',
    async (_what, name, chosen) => {
      const change = (properties: Record<string, string>) =>
        simulator(platform.hubspot, 'POST', '/data', {
          object: 'contacts',
          records: [{ id: '1', properties }],
        });
      await save({});
      await change({ lastname: 'Old' });
      expect(await read()).toEqual({ status: 'success', fields: [{ lastname: 'Old' }] });
      const property = {
        name,
        label: name,
        type: 'string',
        fieldType: 'text',
        groupName: 'contactinformation',
      };
      await simulator(platform.hubspot, 'POST', '/schema', { object: 'contacts', properties: [property] });
      await change({ lastname: 'New', [name]: 'gold' });
      await save(chosen);
      await sleep(5_100);
      const also = 'selectedFields' in chosen ? { [name]: 'gold' } : {};
      expect(await read()).toEqual({ status: 'success', fields: [{ lastname: 'New', ...also }] });
    },
    60_000,
  );

  describe('where the account lacks a field', () => {
    const [list, fields] = ['/crm/v3/objects/companies', '/crm/v3/properties/companies'];
    const pages = 5;
    beforeAll(async () => {
      await deploy(
        platform,
        manifest.replace('fieldName: name }', 'fieldName: name }, { fieldName: ghost }'),
      );
      const records = Array.from({ length: pages * 200 }, (_, at) => ({
        id: String(at + 1),
        properties: { name: `n${at}` },
      }));
      await simulator(platform.hubspot, 'POST', '/data', { object: 'companies', records });
    });

    /** How the read ended, and how often the fields were asked for. */
    async function readCompanies(): Promise<[status: string, asked: number]> {
      await simulator(platform.hubspot, 'DELETE', '/requests');
      const path = '/read/v1/projects/default/integrations/hubspot-crm/objects/companies';
      const { body } = await platform.call<{ operationId: string }>('POST', path, {
        groupRef: customer.groupRef,
        mode: 'async',
      });
      const status = async () => (await customer.operation(body.operationId)).status;
      await expect.poll(status, { timeout: 40_000 }).not.toBe('in_progress');
      const { requests } = await simulator<{ requests: unknown[] }>(
        platform.hubspot,
        'GET',
        `/requests?path=${fields}`,
      );
      return [await status(), requests.length];
    }

    it('a read asks for the fields once, however long it takes', async () => {
      const fault = { kind: 'delay', ms: 3_000 };
      await simulator(platform.hubspot, 'POST', '/faults', { path: list, times: pages, fault });
      expect(await readCompanies()).toEqual(['success', 1]);
    }, 60_000);

    it('a read goes on with those that are known where they cannot be asked for', async () => {
      await sleep(5_100);
      const fault = { kind: 'status', status: 403 };
      await simulator(platform.hubspot, 'POST', '/faults', { path: fields, times: 100, fault });
      expect(await readCompanies()).toEqual(['success', expect.any(Number)]);
    }, 60_000);
  });
});
