import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  deploy,
  during,
  effects,
  fault,
  install,
  simulator,
  type Customer,
  type OperationBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

describe('test/journeys/two-nodes', () => {
  let test: TestDatabase;
  let first: Platform;
  let second: Platform;
  const customers: Customer[] = [];

  beforeAll(async () => {
    test = await createTestDatabase();
    first = await startPlatform({ databaseUrl: test.url });
    await deploy(first);
    for (let index = 0; index < 4; index++)
      customers.push(await install(first, 'hubspot-crm', `group-${index}`));
    second = await startPlatform({ databaseUrl: test.url, beside: first });
  });
  afterAll(async () => {
    await second?.stop();
    await first?.stop();
    await test?.drop();
  });

  const write = (node: Platform, customer: Customer, body: Record<string, unknown>) =>
    node.call<{ operationId: string }>(
      'POST',
      '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts',
      { groupRef: customer.groupRef, ...body },
    );
  const settled = async (node: Platform, id: string): Promise<OperationBody> => {
    await expect
      .poll(
        async () => (await node.call<OperationBody>('GET', `/projects/default/operations/${id}`)).body.status,
        { timeout: 20_000 },
      )
      .not.toBe('in_progress');
    return (await node.call<OperationBody>('GET', `/projects/default/operations/${id}`)).body;
  };
  const createdOf = async (address: string) =>
    (await effects(first.hubspot, 'contacts')).filter(
      ({ kind, fields }) => kind === 'create' && fields['email'] === address,
    );

  it('once a deploy or a change of a config is answered, no node goes by what it remembers', async () => {
    const integration = (objects: string, more = '') => `specVersion: 1.0.0
integrations:
  - name: hubspot-no-proxy
    provider: hubspot
    write:
      objects: [${objects}]
${more}`;
    const revise = async (text: string) => {
      const path = '/projects/default/integrations:batch?destructive=true';
      expect(await first.call('PUT', path, { sourceYaml: text })).toMatchObject({ status: 200 });
    };
    const customer = await install(first, 'hubspot-no-proxy', 'stale');
    const writeOn = (node: Platform, object: string) =>
      node.call('POST', `/write/v1/projects/default/integrations/hubspot-no-proxy/objects/${object}`, {
        groupRef: customer.groupRef,
        type: 'create',
        record: object === 'companies' ? { name: 'Stale' } : { lastname: 'Stale' },
      });
    const onBoth = async (object: string) =>
      (await Promise.all([first, second].map((node) => writeOn(node, object)))).map(({ status }) => status);

    for (let round = 0; round < 3; round++) {
      await revise(integration('{ objectName: contacts }'));
      expect(await onBoth('contacts')).toEqual([200, 200]);
      expect(await onBoth('companies')).toEqual([404, 404]);
      await revise(integration('{ objectName: contacts }, { objectName: companies }'));
      expect(await onBoth('companies')).toEqual([200, 200]);
    }

    // A config that allows more holds at once: a node reads the config anew before it refuses.
    await revise(integration('{ objectName: contacts }', '    proxy: { enabled: true }\n'));
    const call = async () => {
      const answer = await fetch(`${second.proxy}/integrations/v1/me`, {
        headers: {
          'x-api-key': first.apiKey,
          'x-svc-proxy-version': '1',
          'x-svc-project-id': first.projectId,
          'x-svc-installation-id': customer.installationId,
        },
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    const switchTo = async (enabled: boolean) => {
      const path = `/projects/default/integrations/hubspot-no-proxy/installations/${customer.installationId}`;
      const changed = await first.call('PATCH', path, {
        updateMask: ['config.content.proxy.enabled'],
        installation: { config: { content: { proxy: { enabled } } } },
      });
      expect(changed.status).toBe(200);
    };
    await switchTo(false);
    await expect.poll(call).toBe(403);
    await switchTo(true);
    expect(await call()).toBe(200);
  });

  it.each([
    ['under its own and under its mapped name', { type: 'create', record: { phone: '1', mobilephone: '2' } }],
    ['nothing to write', { type: 'update', record: { id: '1' } }],
    ['what the record goes by', { type: 'upsert', upsertBy: 'notes', record: { email: 'fits@example.com' } }],
  ])('a record that fits since a change of the config is refused by no node: %s', async (detail, body) => {
    const objects = (more: object) => ({ objects: { contacts: { objectName: 'contacts', ...more } } });
    const customer = await install(first, 'hubspot-crm', `fits-${body.type}`, {
      read: objects({ selectedFieldMappings: { phone: 'mobilephone' } }),
      write: objects({ selectedFieldSettings: {} }),
    });
    const planned = () => write(second, customer, { dryRun: true, ...body });
    expect(await planned()).toMatchObject({ status: 400, body: { detail: expect.stringContaining(detail) } });
    const path = `/projects/default/integrations/hubspot-crm/installations/${customer.installationId}`;
    const changed = await first.call('PATCH', path, {
      updateMask: [
        'config.content.read.objects.contacts.selectedFieldMappings',
        'config.content.write.objects.contacts.selectedFieldSettings',
      ],
      installation: {
        config: {
          content: {
            read: objects({ selectedFieldMappings: { notes: 'email' } }),
            write: objects({ selectedFieldSettings: { jobtitle: { default: { stringValue: 'Engineer' } } } }),
          },
        },
      },
    });
    expect(changed).toMatchObject({ status: 200 });
    expect(await planned()).toMatchObject({ status: 200 });
  });

  it('work that one node accepted is done once, by whichever node, and both know of it', async () => {
    const jobs = Array.from({ length: 40 }, (_, index) => ({
      email: `n${index}@example.com`,
      node: index % 2 ? first : second,
      customer: customers[index % 4]!,
    }));
    const taken = await Promise.all(
      jobs.map(({ email, node, customer }) =>
        write(node, customer, { type: 'create', mode: 'asynchronous', record: { email } }),
      ),
    );
    expect(taken.map(({ status }) => status)).toEqual(jobs.map(() => 200));
    for (const [index, { body }] of taken.entries()) {
      const other = jobs[index]!.node === first ? second : first;
      expect(await settled(other, body.operationId)).toMatchObject({
        status: 'success',
        metadata: { retry: { attempts: 1 } },
      });
    }
    for (const { email } of jobs) expect(await createdOf(email)).toHaveLength(1);
  });

  it('updates of one record keep their order, whichever node took them', async () => {
    const made = await customers[0]!.write('contacts', {
      type: 'create',
      record: { email: 'order@example.com' },
    });
    const id = made.body.result!.recordId!;
    await fault(first.hubspot, { method: 'PATCH', path: id, fault: { kind: 'delay', ms: 300 } });
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const ids: string[] = [];
    for (const [index, firstname] of names.entries()) {
      const taken = await write(index % 2 ? first : second, customers[0]!, {
        type: 'update',
        mode: 'asynchronous',
        record: { id, firstname },
      });
      ids.push(taken.body.operationId);
    }
    for (const operationId of ids)
      expect(await settled(first, operationId)).toMatchObject({ status: 'success' });
    const updates = (await effects(first.hubspot, 'contacts')).filter(
      (one) => one.id === id && one.kind === 'update',
    );
    expect(updates.map(({ fields }) => fields['firstname'])).toEqual(names);
  });

  it('an expired token is refreshed once, though both nodes find it expired', async () => {
    const lone = await install(first, 'salesforce-crm', 'lone');
    await simulator(first.salesforce, 'POST', '/tokens', { action: 'expire' });
    const path = '/write/v1/projects/default/integrations/salesforce-crm/objects/Contact';
    const body = { groupRef: lone.groupRef, type: 'create', record: { LastName: 'A' } };
    const { result: answers, requests } = await during(first.salesforce, () =>
      Promise.all([first, second, first, second].map((node) => node.call('POST', path, body))),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(requests.filter((one) => one.path.includes('/oauth2/token'))).toHaveLength(1);
  });

  it('a change on one node is seen by the other within seconds: keys, configs, deploys', async () => {
    const made = await first.call<{ id: string; key: string }>('POST', '/projects/default/api-keys', {
      label: 'k',
      scopes: ['write'],
    });
    const { id, key } = made.body;
    const removal = { groupRef: 'group-1', type: 'delete', record: { id: '999999999' } };
    const path = '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts';
    expect(await second.call('POST', path, removal, { key })).toMatchObject({
      status: 422,
      body: { code: 'delete-not-enabled' },
    });
    await first.call('PATCH', '/projects/default/integrations/hubspot-crm/objects/contacts/config-content', {
      groupRef: 'group-1',
      action: 'write',
      changes: [
        { op: 'add', path: '', value: { objectName: 'contacts', deletionSettings: { enabled: true } } },
      ],
    });
    await expect
      .poll(async () => (await second.call('POST', path, removal, { key })).body, { timeout: 5_000 })
      .not.toMatchObject({ code: 'delete-not-enabled' });
    await first.call('PATCH', `/projects/default/api-keys/${id}`, {
      updateMask: ['active'],
      apiKey: { active: false },
    });
    await expect
      .poll(async () => (await second.call('POST', path, removal, { key })).status, { timeout: 5_000 })
      .toBe(401);
  });

  it('when one node dies the other takes over what was queued', async () => {
    await fault(first.hubspot, { path: '/contacts', times: 100, fault: { kind: 'delay', ms: 200 } });
    const addresses = Array.from({ length: 12 }, (_, index) => `over${index}@example.com`);
    const taken = await Promise.all(
      addresses.map((email, index) =>
        write(second, customers[index % 4]!, { type: 'create', mode: 'asynchronous', record: { email } }),
      ),
    );
    second.process().kill('SIGTERM');
    for (const { body } of taken)
      expect(await settled(first, body.operationId)).toMatchObject({ status: 'success' });
    for (const address of addresses) expect(await createdOf(address)).toHaveLength(1);
    await simulator(first.hubspot, 'DELETE', '/faults');
  });
});
