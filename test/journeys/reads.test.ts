import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  deploy,
  during,
  fault,
  install,
  requestsOf,
  simulator,
  type Customer,
  type OperationBody,
  type ProblemBody,
} from '../customer.ts';
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
          mapToName: people
          destination: inbox
          schedule: '*/30 * * * *'
          requiredFields:
            - fieldName: email
            - { fieldName: firstname, mapToName: given }
          optionalFields:
            - { mapToName: "$['at']['town']" }
          deletedRecords: { enabled: always }
        - objectName: companies
          destination: inbox
          optionalFieldsAuto: all
          backfill: { defaultPeriod: { fullHistory: true } }
        - objectName: deals
          destination: inbox
          enabled: always
          schedule: '0 3 * * *'
          requiredFields: [{ fieldName: dealname }]
        - objectName: tickets
          destination: nowhere
          optionalFieldsAuto: all
  - name: salesforce-crm
    provider: salesforce
    read:
      objects:
        - objectName: Contact
          destination: inbox
          schedule: '*/30 * * * *'
          requiredFields: [{ fieldName: LastName }]
          backfill: { defaultPeriod: { fullHistory: true } }
          deletedRecords: { enabled: always }
`;

interface ReadStateBody {
  objectName: string;
  schedule?: string;
  watermark: string;
  nextRunTime?: string;
  failures: number;
  paused?: { reason: string; note?: string };
  lastRun?: { operationId: string; status: string; emitted: number; delivered: number };
  backfill?: { operationId: string; status: string; emitted: number; delivered: number };
}
type ReadOperation = OperationBody & {
  metadata: {
    progress: { recordsProcessed: number; recordsEstimatedTotal?: number };
    read: { type: string; since?: string; until: string; pages: number; emitted: number; delivered: number };
  };
};

describe('test/journeys/reads', () => {
  let test: TestDatabase;
  let first: Platform;
  let second: Platform;
  let receiver: Receiver;
  let secret: string;
  let group = 0;
  const installed: Customer[] = [];
  /** How far the platform's clock is ahead of the providers', in milliseconds. */
  let ahead = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    first = await startPlatform({ databaseUrl: test.url, env: { SVC_READ_FAILURES_UNTIL_PAUSE: '2' } });
    await deploy(first, manifest);
    second = await startPlatform({
      databaseUrl: test.url,
      beside: first,
      env: { SVC_READ_FAILURES_UNTIL_PAUSE: '2' },
    });
    receiver = await startReceiver();
    const made = await first.call<{ id: string }>('POST', '/projects/default/destinations', {
      name: 'inbox',
      type: 'webhook',
      metadata: { url: receiver.url },
    });
    expect([made.status, made.text]).toEqual([201, expect.any(String)]);
    const shown = await first.call<{ secrets: { webhookSigningKey: string } }>(
      'GET',
      '/projects/default/destinations/inbox?includeSecrets=true',
    );
    secret = shown.body.secrets.webhookSigningKey;
  }, 60_000);
  // All share one account at the provider, and its limits.
  afterEach(async () => {
    for (const at of installed.splice(0)) expect((await first.call('DELETE', place(at))).status).toBe(204);
  });
  afterAll(async () => {
    await second?.stop();
    await first?.stop();
    await receiver?.close();
    await test?.drop();
  });

  const contacts = (more: Record<string, unknown> = {}) => ({
    read: { objects: { contacts: { objectName: 'contacts', ...more } } },
  });
  const customer = async (content: Record<string, unknown>): Promise<Customer> => {
    const made = await install(first, 'hubspot-crm', `reads-${++group}`, content);
    installed.push(made);
    return made;
  };
  const place = ({ installationId, integration }: Customer): string =>
    `/projects/default/integrations/${integration}/installations/${installationId}`;
  const states = async (at: Customer): Promise<ReadStateBody[]> =>
    (await first.call<ReadStateBody[]>('GET', `${place(at)}/reads`)).body;
  const stateOf = async (at: Customer, object: string): Promise<ReadStateBody> =>
    (await states(at)).find(({ objectName }) => objectName === object)!;
  const operation = async (at: Customer, id: string): Promise<ReadOperation> =>
    (await at.operation(id)) as ReadOperation;
  const pass = async (minutes: number): Promise<void> => {
    ahead += minutes * 60_000;
    await test.database.raw(`UPDATE clock SET shift = shift + $1 * interval '1 minute'`, [minutes]);
    for (const url of [first.hubspot, first.salesforce])
      await simulator(url, 'POST', '/clock', { advanceMs: minutes * 60_000 });
  };
  const until = async <Value>(
    what: string,
    look: () => Promise<Value | undefined | false>,
  ): Promise<Value> => {
    const giveUpAt = Date.now() + 20_000;
    for (;;) {
      const found = await look();
      if (found) return found;
      if (Date.now() > giveUpAt) {
        throw new Error(`${what}: not within 20 s; ${first.said()} ${second.said()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  /** Lets the next tick of the object come, and waits for the end of its run and for its deliveries. */
  const tick = async (at: Customer, object: string): Promise<ReadOperation> => {
    const before = await until('the end of the run before', async () => {
      const state = await stateOf(at, object);
      return state.lastRun?.status !== 'in_progress' && state;
    });
    await pass((Date.parse(before.nextRunTime!) - Date.now() - ahead) / 60_000 + 0.05);
    const run = await until(`a run of ${object}`, async () => {
      const { lastRun } = await stateOf(at, object);
      return lastRun &&
        lastRun.operationId !== before.lastRun?.operationId &&
        lastRun.status !== 'in_progress'
        ? lastRun.operationId
        : undefined;
    });
    return delivered(at, run);
  };
  const delivered = (at: Customer, id: string): Promise<ReadOperation> =>
    until('the deliveries', async () => {
      const found = await operation(at, id);
      const { emitted, delivered: arrived } = found.metadata.read;
      return found.status !== 'in_progress' && emitted === arrived && found;
    });
  /** A record at the provider, changed now by the platform's clock. */
  const change = (object: string, id: string | undefined, properties: Record<string, string>, agoMs = 0) =>
    simulator<{ ids: string[] }>(first.hubspot, 'POST', '/data', {
      object,
      records: [
        {
          ...(id === undefined ? {} : { id }),
          properties,
          updatedAt: new Date(Date.now() + ahead - agoMs).toISOString(),
        },
      ],
    });
  const read = (at: Customer, object: string, body: Record<string, unknown> = {}) =>
    first.call<{ operationId: string } & ProblemBody>(
      'POST',
      `/read/v1/projects/default/integrations/${at.integration}/objects/${object}`,
      { groupRef: at.groupRef, mode: 'async', ...body },
    );

  it('§2.4 delivers what changed since the last run, mapped and signed', async () => {
    const at = await customer(
      contacts({
        selectedFields: { lastname: true },
        selectedFieldMappings: { "$['at']['town']": 'city' },
        selectedValueMappings: { city: { Aachen: 'AC' } },
      }),
    );
    const nothing = await tick(at, 'contacts');
    expect(nothing).toMatchObject({ status: 'success', actionType: 'read', resource: 'contacts' });
    expect(receiver.entries({ groupRef: at.groupRef, objectName: 'people' })).toEqual([]);
    const { ids } = await change('contacts', undefined, {
      email: 'new@example.com',
      firstname: 'Nia',
      lastname: 'New',
      city: 'AC',
    });
    const { result: run, requests } = await during(first.hubspot, () => tick(at, 'contacts'));
    expect(run.metadata.read).toMatchObject({ type: 'scheduled', emitted: 1, delivered: 1 });
    const search = requests.find(({ path }) => path.endsWith('/contacts/search'));
    const asked = JSON.parse(search!.body) as {
      properties: string[];
      filterGroups: { filters: unknown[] }[];
    };
    expect(asked.properties.toSorted()).toEqual([
      'city',
      'email',
      'firstname',
      'lastmodifieddate',
      'lastname',
    ]);
    const got = receiver.received.filter(({ body }) => body.groupRef === at.groupRef);
    expect(got).toHaveLength(1);
    const [{ headers, text, body }] = got as [(typeof got)[number]];
    expect(body).toMatchObject({
      action: 'read',
      objectName: 'people',
      rawObjectName: 'contacts',
      installationId: at.installationId,
      operationId: run.id,
      readType: 'scheduled',
      resultInfo: { type: 'inline', numRecords: 1 },
    });
    expect(body.result?.[0]).toMatchObject({
      fields: { email: 'new@example.com', lastname: 'New' },
      mappedFields: { given: 'Nia', at: { town: 'Aachen' } },
      raw: { id: ids[0] },
    });
    const signed = headers as Record<string, string>;
    expect(new Webhook(secret).verify(text, signed)).toMatchObject({ action: 'read' });
    // The next run finds it again, within the time that the provider's index may be late, and leaves it out.
    const again = await tick(at, 'contacts');
    expect(again.metadata.read.emitted).toBe(0);
  }, 60_000);

  it('finds a change that shows late, and one that carries the time of the end of a run', async () => {
    const at = await customer(contacts());
    await tick(at, 'contacts');
    const { watermark } = await stateOf(at, 'contacts');
    const exactly = Date.now() + ahead - Date.parse(watermark);
    const { ids } = await change('contacts', undefined, { email: 'edge@example.com' }, exactly);
    const late = await change('contacts', undefined, { email: 'late@example.com' }, exactly + 60_000);
    await tick(at, 'contacts');
    const found = receiver.entries({ groupRef: at.groupRef, objectName: 'people' }).map(({ raw }) => raw.id);
    expect(found.toSorted()).toEqual([...ids, ...late.ids].toSorted());
  }, 60_000);

  it('delivers deletions where the manifest asks for them', async () => {
    const at = await customer(contacts());
    const { ids } = await change('contacts', undefined, { email: 'gone@example.com' });
    await tick(at, 'contacts');
    await simulator(first.hubspot, 'POST', '/data', {
      object: 'contacts',
      records: [
        { id: ids[0], properties: {}, archived: true, updatedAt: new Date(Date.now() + ahead).toISOString() },
      ],
    });
    await tick(at, 'contacts');
    const gone = receiver.entries({ groupRef: at.groupRef }).filter(({ deleted }) => deleted);
    expect(gone).toMatchObject([{ id: ids[0], deleted: true }]);
  }, 60_000);

  it('reads the history of a new object once, beside its schedule, with filters of its own', async () => {
    const { requests } = await during(first.hubspot, async () => {
      const at = await customer({
        read: { objects: { companies: { objectName: 'companies', selectedFieldsAuto: 'all' } } },
      });
      const id = await until(
        'the backfill',
        async () => (await stateOf(at, 'companies')).backfill?.operationId,
      );
      const ended = await delivered(at, id);
      expect(ended).toMatchObject({ status: 'success', metadata: { read: { type: 'backfill' } } });
      const progress = await first.call<{ recordsProcessed: number; recordsEstimatedTotal: number }>(
        'GET',
        `${place(at)}/objects/companies/backfill-progress`,
      );
      const total = ended.metadata.read.emitted;
      expect(total).toBeGreaterThan(0);
      expect(progress.body).toMatchObject({
        recordsProcessed: total,
        recordsEstimatedTotal: total,
        operationId: id,
      });
      expect(receiver.entries({ groupRef: at.groupRef, readType: 'backfill' })).toHaveLength(total);
      // A change of the config does not read it again.
      const changed = await first.call('PATCH', place(at), {
        updateMask: ['config.content.read.objects.companies.schedule'],
        installation: {
          config: { content: { read: { objects: { companies: { schedule: '0 5 * * *' } } } } },
        },
      });
      expect([changed.status, changed.text]).toEqual([200, expect.any(String)]);
      const state = await until('the schedule', async () => {
        const found = await stateOf(at, 'companies');
        return found.schedule === '0 5 * * *' && found;
      });
      expect(state.backfill?.operationId).toBe(id);
    });
    expect(
      requests.filter(({ path, status }) => path.includes('/objects/companies?limit=100') && status === 200),
    ).toHaveLength(1);
  }, 60_000);

  it('reads an object that is enabled for all, whatever the config has', async () => {
    const at = await customer({});
    await states(at);
    await change('deals', undefined, { dealname: 'Big' });
    const run = await tick(at, 'deals');
    expect(run.metadata.read.emitted).toBe(1);
    expect(receiver.entries({ groupRef: at.groupRef, objectName: 'deals' })[0]?.fields).toEqual({
      dealname: 'Big',
    });
  }, 60_000);

  it('reads on demand, with a range of its own, and leaves the watermark', async () => {
    const at = await customer(
      contacts({ fieldFilters: [{ fieldName: 'firstname', operator: 'eq', value: 'Ada' }] }),
    );
    const before = await stateOf(at, 'contacts');
    const asked = await read(at, 'people', {
      sinceTimestamp: '2020-01-01T00:00:00Z',
      untilTimestamp: '2025-12-31T00:00:00Z',
    });
    expect([asked.status, asked.text]).toEqual([201, expect.any(String)]);
    const ended = await delivered(at, asked.body.operationId);
    expect(ended.metadata.read).toMatchObject({ type: 'triggered', since: '2020-01-01T00:00:00.000Z' });
    const got = receiver.entries({ groupRef: at.groupRef, readType: 'triggered' });
    expect(got.length).toBe(ended.metadata.read.emitted);
    expect(new Set(got.map(({ mappedFields }) => mappedFields['given']))).toEqual(new Set(['Ada']));
    expect(await stateOf(at, 'contacts')).toMatchObject({ watermark: before.watermark });
    const events = await first.call<{ results: { type: string; installationId: string }[] }>(
      'GET',
      '/projects/default/events?type=read.triggered.done',
    );
    expect(events.body.results.map(({ installationId }) => installationId)).toContain(at.installationId);
  }, 60_000);

  it('refuses a read on demand that nothing could come of, and sends nothing', async () => {
    const at = await customer({
      read: {
        objects: {
          contacts: { objectName: 'contacts', disabled: true },
          tickets: { objectName: 'tickets', selectedFieldsAuto: 'all' },
        },
      },
    });
    const { requests } = await during(first.hubspot, async () => {
      for (const [object, body, status, code, detail] of [
        ['contacts', {}, 422, 'read-disabled', /disables contacts/],
        ['companies', {}, 422, 'object-not-in-config', /read\.objects/],
        ['nothing', {}, 404, 'object-not-in-manifest', /nothing/],
        ['tickets', {}, 422, 'no-destination', /nowhere/],
        [
          'deals',
          { sinceTimestamp: '2026-02-01T00:00:00Z', untilTimestamp: '2026-01-01T00:00:00Z' },
          400,
          'invalid-request',
          /./,
        ],
        ['deals', { mode: 'sync' }, 400, 'invalid-request', /./],
        ['deals', { sinceTimestamp: 'yesterday' }, 400, 'invalid-request', /./],
        ['deals', { groupRef: 'nobody' }, 404, 'installation-not-found', /nobody/],
      ] as const) {
        const refused = await read(at, object, body);
        expect([object, refused.status, refused.body.code]).toEqual([object, status, code]);
        expect(refused.body.detail).toMatch(detail);
      }
    });
    expect(requests).toEqual([]);
  }, 60_000);

  it('makes one run of a tick on two nodes, and one of all that were missed', async () => {
    const at = await customer(contacts());
    const runs = async (): Promise<number> => {
      const { body } = await first.call<{ results: { resource: string }[] }>(
        'GET',
        `${place(at)}/operations?pageSize=100`,
      );
      return body.results.filter(({ resource }) => resource === 'contacts').length;
    };
    for (let n = 0; n < 8; n += 1) await tick(at, 'contacts');
    expect(await runs()).toBe(8);
    await pass(24 * 60);
    await until('the run that makes up', async () => (await runs()) === 9);
    await tick(at, 'contacts');
    expect(await runs()).toBe(10);
  }, 90_000);

  it('does not start a run again that still goes on, and its log says so', async () => {
    const at = await customer(contacts());
    await fault(first.hubspot, {
      path: '/contacts/search',
      times: 3,
      fault: { kind: 'status', status: 500 },
    });
    const { nextRunTime } = await stateOf(at, 'contacts');
    await pass((Date.parse(nextRunTime!) - Date.now() - ahead) / 60_000 + 0.05);
    const running = await until('a run', async () => (await stateOf(at, 'contacts')).lastRun);
    const state = await stateOf(at, 'contacts');
    if (running.status === 'in_progress') {
      await pass((Date.parse(state.nextRunTime!) - Date.now() - ahead) / 60_000 + 0.05);
      await until('the line', async () => {
        const logs = await first.call<{ message: { msg: string } }[]>(
          'GET',
          `/projects/default/operations/${running.operationId}/logs`,
        );
        return logs.body.some(({ message }) =>
          message.msg.includes('was left out, since this run still goes on'),
        );
      });
    }
    const ended = await at.settled(running.operationId);
    expect(ended).toMatchObject({ status: 'success' });
  }, 60_000);

  it('pauses and goes on where it stood; all calls may be made twice', async () => {
    const at = await customer(contacts());
    const verb = (what: string, body: Record<string, unknown>) =>
      first.call('POST', `/read/v1${place(at)}:${what}`, body);
    for (let n = 0; n < 2; n += 1)
      expect((await verb('pause', { objects: ['people'], note: 'moving' })).status).toBe(204);
    expect(await stateOf(at, 'contacts')).toMatchObject({ paused: { reason: 'object', note: 'moving' } });
    expect((await stateOf(at, 'contacts')).nextRunTime).toBeUndefined();
    await change('contacts', undefined, { email: 'paused@example.com' });
    await pass(60);
    for (let n = 0; n < 2; n += 1) expect((await verb('unpause', {})).status).toBe(204);
    const run = await tick(at, 'contacts');
    expect(run.metadata.read.emitted).toBe(1);
    const unknown = await verb('pause', { objects: ['nothing'] });
    expect([unknown.status, (unknown.body as unknown as ProblemBody).code]).toEqual([
      422,
      'object-not-in-config',
    ]);
  }, 60_000);

  it('pauses by itself after too many failures, and tells why', async () => {
    const at = await customer(contacts());
    for (let n = 0; n < 2; n += 1) {
      await fault(first.hubspot, {
        path: '/contacts/search',
        times: 1,
        fault: { kind: 'status', status: 400 },
      });
      const run = await tick(at, 'contacts');
      expect(run).toMatchObject({ status: 'failure', result: expect.stringMatching(/^\[contacts\] /) });
    }
    expect(await stateOf(at, 'contacts')).toMatchObject({ failures: 2, paused: { reason: 'failures' } });
    const events = await first.call<{ results: { installationId: string; data: { error: string } }[] }>(
      'GET',
      '/projects/default/events?type=read.schedule.paused',
    );
    const told = events.body.results.find(({ installationId }) => installationId === at.installationId);
    expect(told?.data.error).toMatch(/^\[contacts\] /);
  }, 60_000);

  it('waits for a destination that is not there, says so once, and loses nothing', async () => {
    const at = await customer({
      read: {
        objects: {
          tickets: {
            objectName: 'tickets',
            selectedFieldsAuto: 'all',
            backfill: { defaultPeriod: { fullHistory: true } },
          },
        },
      },
    });
    const id = await until('the backfill', async () => (await stateOf(at, 'tickets')).backfill?.operationId);
    await until('the line', async () => {
      const logs = await first.call<{ message: { msg: string } }[]>(
        'GET',
        `/projects/default/operations/${id}/logs`,
      );
      return (
        logs.body.filter(({ message }) => message.msg.includes('there is no destination nowhere')).length ===
        1
      );
    });
    await first.call('POST', '/projects/default/destinations', {
      name: 'nowhere',
      type: 'webhook',
      metadata: { url: receiver.url },
    });
    await pass(1);
    const ended = await delivered(at, id);
    expect(ended).toMatchObject({ status: 'success' });
    expect(receiver.entries({ groupRef: at.groupRef, objectName: 'tickets' }).length).toBe(
      ended.metadata.read.emitted,
    );
  }, 60_000);

  it('searches by the builder’s names, one page at once', async () => {
    const at = await customer(contacts());
    const search = (body: Record<string, unknown>, groupRef = at.groupRef) =>
      first.call<
        { results: { id: string; mappedFields: Record<string, unknown> }[]; result: unknown[] } & ProblemBody
      >('POST', `/search/v1/projects/default/integrations/hubspot-crm?groupRef=${groupRef}`, body);
    const filter = { fieldName: 'given', operator: 'eq', value: 'Ada' };
    const found = await search({ objectName: 'people', fieldFilters: [filter] });
    expect(found.status).toBe(200);
    expect(found.body.results.length).toBeGreaterThan(0);
    expect(found.body.result).toEqual(found.body.results);
    expect(new Set(found.body.results.map(({ mappedFields }) => mappedFields['given']))).toEqual(
      new Set(['Ada']),
    );
    const unknown = await search({ objectName: 'people', fieldFilters: [{ ...filter, fieldName: 'nope' }] });
    expect([unknown.status, unknown.body.code, unknown.body.issues?.[0]?.name]).toEqual([
      422,
      'filter-invalid',
      'fieldFilters[0].fieldName',
    ]);
    const other = await search({ objectName: 'people', fieldFilters: [{ ...filter, operator: 'gt' }] });
    expect(other.status).toBe(400);
    expect((await search({ objectName: 'people', fieldFilters: [] }, 'nobody')).status).toBe(404);
  }, 60_000);

  it('reads Salesforce alike: history, changes and deletions', async () => {
    const at = await install(first, 'salesforce-crm', `reads-${++group}`, {
      read: { objects: { Contact: { objectName: 'Contact', selectedFieldMappings: { mail: 'Email' } } } },
    });
    const id = await until('the backfill', async () => (await stateOf(at, 'Contact')).backfill?.operationId);
    const ended = await delivered(at, id);
    expect(ended.metadata.read.emitted).toBeGreaterThan(0);
    const got = receiver.entries({ groupRef: at.groupRef, readType: 'backfill' });
    expect(got).toHaveLength(ended.metadata.read.emitted);
    expect(Object.keys(got[0]?.fields ?? {})).toEqual(['lastname']);
    expect(Object.keys(got[0]?.mappedFields ?? {})).toEqual(['mail']);
    expect(await requestsOf(first.salesforce)).not.toEqual([]);
  }, 60_000);
});
