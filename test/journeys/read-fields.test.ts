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
    customer = await install(platform, 'hubspot-crm', 'g1', { read: { objects: { contacts } } });
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
});
