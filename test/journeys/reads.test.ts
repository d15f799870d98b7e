import { setTimeout as sleep } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { during, fault, mergeContacts, requestsOf, simulator, type ProblemBody } from '../customer.ts';
import { ReadWorld } from '../read-world.ts';

describe('test/journeys/reads', () => {
  let world: ReadWorld;
  beforeAll(async () => {
    world = await ReadWorld.open();
  }, 60_000);
  afterEach(() => world.uninstall());
  afterAll(() => world?.close());

  it('§2.4 delivers what changed since the last run, mapped and signed', async () => {
    const at = await world.contacts({
      selectedFields: { lastname: true },
      selectedFieldMappings: { "$['at']['town']": 'city' },
      selectedValueMappings: { city: { Aachen: 'AC' } },
    });
    const nothing = await world.tick(at, 'contacts');
    expect(nothing).toMatchObject({ status: 'success', actionType: 'read', resource: 'contacts' });
    expect(world.receiver.entries({ groupRef: at.groupRef, objectName: 'people' })).toEqual([]);
    const { ids } = await world.change('contacts', undefined, {
      email: 'new@example.com',
      firstname: 'Nia',
      lastname: 'New',
      city: 'AC',
    });
    const { result: run, requests } = await during(world.first.hubspot, () => world.tick(at, 'contacts'));
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
    const got = world.receiver.received.filter(({ body }) => body.groupRef === at.groupRef);
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
    expect(new Webhook(world.secret).verify(text, signed)).toMatchObject({ action: 'read' });
    // The next run finds it again, within the time that the provider's index may be late, and leaves it out.
    const again = await world.tick(at, 'contacts');
    expect(again.metadata.read.emitted).toBe(0);
  }, 60_000);

  it('finds a change that shows late, and one that carries the time of the end of a run', async () => {
    const at = await world.contacts();
    await world.tick(at, 'contacts');
    const { watermark } = await world.stateOf(at, 'contacts');
    const exactly = world.now() - Date.parse(watermark);
    const { ids } = await world.change('contacts', undefined, { email: 'edge@example.com' }, exactly);
    const late = await world.change('contacts', undefined, { email: 'late@example.com' }, exactly + 60_000);
    await world.tick(at, 'contacts');
    const found = world.receiver
      .entries({ groupRef: at.groupRef, objectName: 'people' })
      .map(({ raw }) => raw.id);
    expect(found.toSorted()).toEqual([...ids, ...late.ids].toSorted());
  }, 60_000);

  it('finds what a provider stamps whose clock is behind by more than its index is late', async () => {
    const at = await world.contacts();
    const behind = (ms: number) => simulator(world.first.hubspot, 'POST', '/clock', { advanceMs: -ms });
    await behind(5 * 60_000);
    await world.tick(at, 'contacts');
    const { ids } = await world.change('contacts', undefined, { email: 'slow@example.com' }, 5 * 60_000);
    const run = await world.tick(at, 'contacts');
    await behind(-5 * 60_000);
    const found = world.receiver.entries({ groupRef: at.groupRef }).map(({ raw }) => raw.id);
    expect([found, run.metadata.read.emitted]).toEqual([ids, 1]);
  }, 60_000);

  it('reads what a provider whose clock is behind stamps before the object began; and shows an object whose runs are gone', async () => {
    const at = await world.contacts();
    const { watermark } = await world.stateOf(at, 'contacts');
    const before = world.now() - Date.parse(watermark) + 60_000;
    const { ids } = await world.change('contacts', undefined, { email: 'behind@example.com' }, before);
    const run = await world.tick(at, 'contacts');
    const found = world.receiver.entries({ groupRef: at.groupRef }).map(({ raw }) => raw.id);
    expect(found).toContain(ids[0]);
    await world.test.database.raw('DELETE FROM operation WHERE id = $1', [run.id]);
    const state = await world.stateOf(at, 'contacts');
    expect([state.objectName, state.lastRun]).toEqual(['contacts', undefined]);
  }, 60_000);

  it('delivers deletions where the manifest asks for them', async () => {
    const at = await world.contacts();
    const { ids } = await world.change('contacts', undefined, { email: 'gone@example.com' });
    await world.tick(at, 'contacts');
    await simulator(world.first.hubspot, 'POST', '/data', {
      object: 'contacts',
      records: [
        { id: ids[0], properties: {}, archived: true, updatedAt: new Date(world.now()).toISOString() },
      ],
    });
    await world.tick(at, 'contacts');
    const gone = world.receiver.entries({ groupRef: at.groupRef }).filter(({ deleted }) => deleted);
    expect(gone).toMatchObject([{ id: ids[0], deleted: true }]);
  }, 60_000);

  it('delivers as deleted what was merged, once while the record that came of it stays as it is', async () => {
    const at = await world.contacts();
    const [primary, other] = await Promise.all(
      ['merged@example.com', 'into@example.com'].map((email) =>
        world.change('contacts', undefined, { email }),
      ),
    );
    await world.tick(at, 'contacts');
    const ids = [primary!.ids[0]!, other!.ids[0]!];
    const into = await mergeContacts(world.first.hubspot, ids[0]!, ids[1]!);
    await world.tick(at, 'contacts');
    const told = world.receiver
      .entries({ groupRef: at.groupRef, objectName: 'people' })
      .filter(({ raw }) => raw.id === into);
    expect(told).toMatchObject([
      { fields: { email: 'merged@example.com' } },
      { deleted: true },
      { deleted: true },
    ]);
    expect(told.slice(1).map(({ id }) => id)).toEqual(ids);
    const again = await world.tick(at, 'contacts');
    expect(again.metadata.read.emitted).toBe(0);
  }, 60_000);

  it('reads the history of a new object once, beside its schedule, with filters of its own', async () => {
    const { requests } = await during(world.first.hubspot, async () => {
      const at = await world.customer({
        read: { objects: { companies: { objectName: 'companies', selectedFieldsAuto: 'all' } } },
      });
      const ended = await world.history(at, 'companies');
      const { id } = ended;
      expect(ended).toMatchObject({ status: 'success', metadata: { read: { type: 'backfill' } } });
      const progress = await world.first.call<{ recordsProcessed: number; recordsEstimatedTotal: number }>(
        'GET',
        `${world.place(at)}/objects/companies/backfill-progress`,
      );
      const total = ended.metadata.read.emitted;
      expect(total).toBeGreaterThan(0);
      expect(progress.body).toMatchObject({
        recordsProcessed: total,
        recordsEstimatedTotal: total,
        operationId: id,
      });
      expect(world.receiver.entries({ groupRef: at.groupRef, readType: 'backfill' })).toHaveLength(total);
      // A change of the config does not read it again.
      const changed = await world.first.call('PATCH', world.place(at), {
        updateMask: ['config.content.read.objects.companies.schedule'],
        installation: {
          config: { content: { read: { objects: { companies: { schedule: '0 5 * * *' } } } } },
        },
      });
      expect([changed.status, changed.text]).toEqual([200, expect.any(String)]);
      const state = await world.until('the schedule', async () => {
        const found = await world.stateOf(at, 'companies');
        return found.schedule === '0 5 * * *' && found;
      });
      expect(state.backfill?.operationId).toBe(id);
    });
    expect(
      requests.filter(({ path, status }) => path.includes('/objects/companies?limit=100') && status === 200),
    ).toHaveLength(1);
  }, 60_000);

  it('reads an object that is enabled for all, whatever the config has', async () => {
    const at = await world.customer({});
    await world.stateOf(at, 'deals');
    await world.change('deals', undefined, { dealname: 'Big' });
    const run = await world.tick(at, 'deals');
    expect(run.metadata.read.emitted).toBe(1);
    expect(world.receiver.entries({ groupRef: at.groupRef, objectName: 'deals' })[0]?.fields).toEqual({
      dealname: 'Big',
    });
  }, 60_000);

  it('reads on demand, with a range of its own, and leaves the watermark', async () => {
    const at = await world.contacts({
      fieldFilters: [{ fieldName: 'firstname', operator: 'eq', value: 'Ada' }],
    });
    const before = await world.stateOf(at, 'contacts');
    const asked = await world.read(at, 'people', {
      sinceTimestamp: '2020-01-01T00:00:00Z',
      untilTimestamp: '2025-12-31T00:00:00Z',
    });
    expect([asked.status, asked.text]).toEqual([201, expect.any(String)]);
    const ended = await world.delivered(at, asked.body.operationId);
    expect(ended.metadata.read).toMatchObject({ type: 'triggered', since: '2020-01-01T00:00:00.000Z' });
    const got = world.receiver.entries({ groupRef: at.groupRef, readType: 'triggered' });
    expect(got.length).toBe(ended.metadata.read.emitted);
    expect(new Set(got.map(({ mappedFields }) => mappedFields['given']))).toEqual(new Set(['Ada']));
    expect(await world.stateOf(at, 'contacts')).toMatchObject({ watermark: before.watermark });
    const exchanges = `/projects/default/operations/${asked.body.operationId}/exchanges`;
    const pages = async () => (await world.first.call<{ results: unknown[] }>('GET', exchanges)).body.results;
    await expect.poll(async () => (await pages()).length, { timeout: 5_000 }).toBeGreaterThan(0);
    // What was asked for is kept, and how much came; not a second copy of it.
    expect((await pages())[0]).toEqual(
      expect.objectContaining({
        request: expect.objectContaining({ body: expect.stringContaining('firstname') as string }) as object,
        answer: { status: 200, headers: expect.any(Object) as object, bytes: expect.any(Number) as number },
      }),
    );
    const events = await world.first.call<{ results: { type: string; installationId: string }[] }>(
      'GET',
      '/projects/default/events?type=read.triggered.done',
    );
    expect(events.body.results.map(({ installationId }) => installationId)).toContain(at.installationId);
  }, 60_000);

  it('reads on demand also what changes before its page comes, unless the range was given an end', async () => {
    const at = await world.contacts();
    const readWhile = async (range: Record<string, string>) => {
      const { ids } = await world.change('contacts', undefined, { email: 'edited@example.com' }, 60_000);
      const once = { times: 1, fault: { kind: 'status', status: 503 } } as const;
      await fault(world.first.hubspot, { path: '/objects/contacts?limit', ...once });
      const { body } = await world.read(at, 'people', range);
      await world.pass(1);
      await world.change('contacts', ids[0], { email: 'anew@example.com' });
      const { status } = await world.delivered(at, body.operationId);
      const found = world.receiver.entries({ groupRef: at.groupRef, readType: 'triggered' });
      return [status, ...found.filter(({ raw }) => raw.id === ids[0]).map(({ fields }) => fields['email'])];
    };
    expect(await readWhile({})).toEqual(['success', 'anew@example.com']);
    expect(await readWhile({ untilTimestamp: new Date(world.now()).toISOString() })).toEqual(['success']);
  }, 60_000);

  it('refuses a read on demand that nothing could come of, and sends nothing', async () => {
    const at = await world.customer({
      read: {
        objects: {
          contacts: { objectName: 'contacts', disabled: true },
          tickets: { objectName: 'tickets', selectedFieldsAuto: 'all' },
        },
      },
    });
    const { requests } = await during(world.first.hubspot, async () => {
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
        const refused = await world.read(at, object, body);
        expect([object, refused.status, refused.body.code]).toEqual([object, status, code]);
        expect(refused.body.detail).toMatch(detail);
      }
    });
    expect(requests).toEqual([]);
  }, 60_000);

  it('searches by the builder’s names, one page at once', async () => {
    const at = await world.contacts();
    const search = (body: Record<string, unknown>, groupRef = at.groupRef) =>
      world.first.call<
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
    const mapped = await world.contacts({
      selectedFields: { city: true },
      selectedValueMappings: { city: { Aachen: 'AC' } },
    });
    const { ids } = await world.change('contacts', undefined, { email: 'ac@example.com', city: 'AC' });
    const byValue = { fieldName: 'city', operator: 'eq', value: 'Aachen' };
    await world.until('the record', async () => {
      const answer = await search({ objectName: 'people', fieldFilters: [byValue] }, mapped.groupRef);
      return answer.status === 200 && answer.body.results.some(({ id }) => id === ids[0]);
    });
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

  it('shows one record of a config as it is delivered, associations included, and moves nothing', async () => {
    const { ids } = await world.change('contacts', undefined, {
      email: 'shown@example.com',
      firstname: 'Nia',
      lastname: 'Shown',
      city: 'AC',
    });
    const { ids: companies } = await world.change('companies', undefined, { name: 'Acme' });
    await simulator(world.first.hubspot, 'POST', '/data', {
      object: 'contacts',
      associate: [{ id: ids[0], to: 'companies', toIds: companies }],
    });
    const contacts = {
      objectName: 'contacts',
      selectedFields: { email: true },
      selectedFieldMappings: { "$['at']['town']": 'city' },
      selectedValueMappings: { city: { Aachen: 'AC' } },
      fieldFilters: [{ fieldName: 'email', operator: 'eq', value: 'shown@example.com' }],
      associations: { objects: ['companies'] },
    };
    const at = await world.customer({ read: { objects: { contacts } } }, 'hubspot-links');
    const before = await world.stateOf(at, 'contacts');
    const path = '/projects/default/integrations/hubspot-links/objects/contacts/read-preview';
    const config = { content: { provider: 'hubspot', read: { objects: { contacts } } } };
    const ask = () =>
      world.first.call<{ result: unknown[] }>('POST', path, { groupRef: at.groupRef, config });
    let shown = await ask();
    // HubSpot takes five searches a second for an account, and the tests before have searched, too.
    for (
      const giveUpAt = Date.now() + 10_000;
      shown.status === 429 && Date.now() < giveUpAt;
      shown = await ask()
    )
      await sleep(1_000);
    expect(shown).toMatchObject({ status: 200, body: { objectName: 'contacts', recordId: ids[0] } });
    expect((await world.stateOf(at, 'contacts')).watermark).toBe(before.watermark);
    await world.history(at, 'contacts');
    const delivered = world.receiver.entries({ groupRef: at.groupRef });
    expect(delivered).toHaveLength(1);
    expect(shown.body.result).toEqual(delivered);
    expect(delivered[0]).toMatchObject({
      mappedFields: { at: { town: 'Aachen' } },
      associations: { accounts: [{ id: companies[0] }] },
    });
  }, 60_000);

  it('reads Salesforce, too: history, changes and deletions', async () => {
    const Contact = { objectName: 'Contact', selectedFieldMappings: { mail: 'Email' } };
    const at = await world.customer({ read: { objects: { Contact } } }, 'salesforce-crm');
    const id = await world.until(
      'the backfill',
      async () => (await world.stateOf(at, 'Contact')).backfill?.operationId,
    );
    const ended = await world.delivered(at, id);
    expect(ended.metadata.read.emitted).toBeGreaterThan(0);
    const got = world.receiver.entries({ groupRef: at.groupRef, readType: 'backfill' });
    expect(got).toHaveLength(ended.metadata.read.emitted);
    expect(Object.keys(got[0]?.fields ?? {})).toEqual(['lastname']);
    expect(Object.keys(got[0]?.mappedFields ?? {})).toEqual(['mail']);
    expect(await requestsOf(world.first.salesforce)).not.toEqual([]);
  }, 60_000);

  it('delivers a second change of the second in which the one before was read from Salesforce', async () => {
    const Contact = { objectName: 'Contact' };
    const at = await world.customer({ read: { objects: { Contact } } }, 'salesforce-crm');
    await world.history(at, 'Contact');
    const { nextRunTime } = await world.stateOf(at, 'Contact');
    const SystemModstamp = nextRunTime!.replace(/\.\d+Z$/, '.000Z');
    let Id: string | undefined;
    for (const LastName of ['First', 'Second', 'Second']) {
      const records = [{ ...(Id === undefined ? {} : { Id }), LastName, SystemModstamp }];
      const action = Id === undefined ? 'create' : 'update';
      const data = { object: 'Contact', action, records };
      const { ids } = await simulator<{ ids: string[] }>(world.first.salesforce, 'POST', '/data', data);
      Id = ids[0];
      await world.tick(at, 'Contact');
    }
    const told = world.receiver.entries({ groupRef: at.groupRef, readType: 'scheduled' });
    expect(told.map(({ raw }) => [raw['LastName'], raw['SystemModstamp']])).toEqual([
      ['First', told[0]?.raw['SystemModstamp']],
      ['Second', told[0]?.raw['SystemModstamp']],
    ]);
  }, 60_000);
});
