import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { during, simulator, type Customer } from '../customer.ts';
import { ReadWorld, type ReadOperation } from '../read-world.ts';

describe('test/journeys/read-associations', () => {
  let world: ReadWorld;
  beforeAll(async () => {
    world = await ReadWorld.open();
  }, 60_000);
  afterEach(() => world.uninstall());
  afterAll(() => world?.close());

  const linked = (more: Record<string, unknown> = {}): Promise<Customer> =>
    world.customer({ read: { objects: { contacts: { objectName: 'contacts', ...more } } } }, 'hubspot-links');

  /** Once a day, at an hour after some ticks of the records. */
  const inFiveHours = (): string => `0 ${(new Date(world.now()).getUTCHours() + 5) % 24} * * *`;

  const made = async (object: string, ...all: Record<string, string>[]): Promise<string[]> => {
    const records = all.map((properties) => ({ properties }));
    const { ids } = await simulator<{ ids: string[] }>(world.first.hubspot, 'POST', '/data', {
      object,
      records,
    });
    return ids;
  };
  const link = (
    how: 'associate' | 'disassociate',
    id: string,
    to: string,
    toIds: string[],
  ): Promise<unknown> =>
    simulator(world.first.hubspot, 'POST', '/data', { object: 'contacts', [how]: [{ id, to, toIds }] });

  /** The run that compares next, or the first one, once it has ended and its messages have arrived. */
  async function compared(at: Customer, object: string, before?: string): Promise<ReadOperation> {
    const id = await world.until('a run that compares', async () => {
      const { associations } = await world.stateOf(at, object);
      const run = associations?.lastRun?.operationId;
      return run !== before && run;
    });
    return world.delivered(at, id);
  }
  async function toComparing(at: Customer, object: string): Promise<ReadOperation> {
    const { associations } = await world.stateOf(at, object);
    const minutes = (Date.parse(associations!.nextRunTime!) - world.now()) / 60_000 + 0.05;
    await world.pass(minutes);
    return compared(at, object, associations!.lastRun!.operationId);
  }
  const arrived = (at: Customer, id: string) =>
    world.receiver.entries({ groupRef: at.groupRef }).filter(({ raw }) => raw.id === id);

  it('delivers records with what they are associated with, by the names of the builder', async () => {
    const [ann = '', none = ''] = await made('contacts', { lastname: 'Ann' }, { lastname: 'None' });
    const [acme = ''] = await made('companies', { name: 'Acme' });
    await link('associate', ann, 'companies', [acme]);
    const { result: at, requests } = await during(world.first.hubspot, async () => {
      const customer = await linked();
      await world.history(customer, 'contacts');
      return customer;
    });
    const asked = requests.filter(
      ({ path }) => path === '/crm/v4/associations/contacts/companies/batch/read',
    );
    expect(asked.length).toBeGreaterThan(0);
    expect(JSON.parse(asked[0]!.body)).toMatchObject({
      inputs: expect.arrayContaining([{ id: expect.any(String) }]),
    });
    expect(arrived(at, ann)).toMatchObject([
      {
        fields: { lastname: 'Ann' },
        associations: {
          accounts: [
            {
              id: acme,
              objectName: 'accounts',
              rawObjectName: 'companies',
              providerAssociationMetadata: {
                associationTypes: [{ category: 'HUBSPOT_DEFINED', typeId: 279, label: null }],
              },
            },
          ],
          deals: [],
        },
      },
    ]);
    expect(arrived(at, none)[0]?.associations).toEqual({ accounts: [], deals: [] });
  }, 60_000);

  it('finds in a rhythm of its own what no time of change tells, and delivers those records alone', async () => {
    const [ann = '', ben = ''] = await made('contacts', { lastname: 'Ann' }, { lastname: 'Ben' });
    const [acme = '', beta = ''] = await made('companies', { name: 'Acme' }, { name: 'Beta' });
    await link('associate', ann, 'companies', [acme]);
    const at = await linked({ associations: { schedule: inFiveHours() } });
    await world.history(at, 'contacts');
    const first = await compared(at, 'contacts');
    expect(first.metadata.read).toMatchObject({ type: 'associations', emitted: 0 });
    // What changed around the beginning comes with the first run, too.
    await world.tick(at, 'contacts');
    const [before, beforeOfBen] = [arrived(at, ann).length, arrived(at, ben).length];
    await link('associate', ann, 'companies', [beta]);
    expect((await world.tick(at, 'contacts')).metadata.read.emitted).toBe(0);
    const run = await toComparing(at, 'contacts');
    expect(run).toMatchObject({
      status: 'success',
      metadata: { read: { type: 'associations', emitted: 1 } },
    });
    expect(run.result).toMatch(/compared in .*; the associations of 1 had changed/);
    const got = arrived(at, ann);
    expect(got).toHaveLength(before + 1);
    expect(got.at(-1)).toMatchObject({
      fields: { lastname: 'Ann' },
      associations: { accounts: [{ id: acme }, { id: beta }] },
    });
    const message = world.receiver.received.find(({ body }) => body.operationId === run.id);
    expect(message?.body).toMatchObject({ readType: 'scheduled', objectName: 'contacts' });
    expect(arrived(at, ben)).toHaveLength(beforeOfBen);
    // It is known now; and that one is gone again is a change, too.
    await link('disassociate', ann, 'companies', [acme, beta]);
    expect((await toComparing(at, 'contacts')).metadata.read.emitted).toBe(1);
    expect(arrived(at, ann).at(-1)?.associations).toEqual({ accounts: [], deals: [] });
    expect((await toComparing(at, 'contacts')).metadata.read.emitted).toBe(0);
  }, 90_000);

  it('reads all associations of a record that has more than one answer holds', async () => {
    const [hub = ''] = await made('contacts', { lastname: 'Hub' });
    const deals = await made(
      'deals',
      ...Array.from({ length: 1_100 }, (_, n) => ({ dealname: `deal ${n}` })),
    );
    await link('associate', hub, 'deals', deals);
    const { result: at, requests } = await during(world.first.hubspot, async () => {
      const customer = await linked();
      await world.history(customer, 'contacts');
      return customer;
    });
    const [entry] = arrived(at, hub);
    expect(entry?.associations?.['deals']?.map(({ id }) => id)).toEqual(deals);
    const bodies = requests
      .filter(({ path }) => path.endsWith('/contacts/deals/batch/read'))
      .map(({ body }) => JSON.parse(body) as { inputs: { id: string; after?: string }[] });
    expect(bodies).toContainEqual({ inputs: [{ id: hub, after: '500' }] });
    expect(bodies).toContainEqual({ inputs: [{ id: hub, after: '1000' }] });
  }, 60_000);

  it('goes on at its page when the provider fails between two, also where nothing else is scheduled', async () => {
    const companies = await made(
      'companies',
      ...Array.from({ length: 250 }, (_, n) => ({ name: `Page ${n}` })),
    );
    const [ann = ''] = await made('contacts', { lastname: 'Ann' });
    const last = companies.at(-1)!;
    const associations = { objects: ['contacts'], schedule: inFiveHours() };
    const at = await world.customer(
      { read: { objects: { companies: { objectName: 'companies', associations } } } },
      'hubspot-links',
    );
    const first = await compared(at, 'companies');
    await link('associate', ann, 'companies', [last]);
    await simulator(world.first.hubspot, 'POST', '/faults', {
      path: '/crm/v4/associations/companies/contacts',
      contains: `"${last}"`,
      fault: { kind: 'status', status: 502 },
    });
    const { result: run, requests } = await during(world.first.hubspot, () => toComparing(at, 'companies'));
    const { pages, emitted } = run.metadata.read;
    expect([pages, emitted]).toEqual([first.metadata.read.pages, 1]);
    const listed = requests.filter(({ path }) => path.startsWith('/crm/v3/objects/companies?'));
    expect(listed.filter(({ path }) => !path.includes('after='))).toHaveLength(1);
    expect(listed).toHaveLength(pages + 1);
    expect(arrived(at, last)).toMatchObject([{ associations: { contacts: [{ id: ann }] } }]);
  }, 60_000);

  it('takes what the config says instead: other objects, another rhythm, or none', async () => {
    const [ann = ''] = await made('contacts', { lastname: 'Ann' });
    const at = await linked({ associations: { objects: ['deals'], schedule: '30 4 * * *' } });
    await world.history(at, 'contacts');
    const { associations } = await world.stateOf(at, 'contacts');
    expect(associations).toMatchObject({ objects: ['deals'], schedule: '30 4 * * *' });
    expect(arrived(at, ann)[0]?.associations).toEqual({ deals: [] });
    const none = await linked({ associations: { objects: [] } });
    const { requests } = await during(world.first.hubspot, () => world.history(none, 'contacts'));
    expect(arrived(none, ann)[0]).not.toHaveProperty('associations');
    expect(requests.filter(({ path }) => path.includes('/contacts/companies/'))).toEqual([]);
    expect((await world.stateOf(none, 'contacts')).associations).toBeUndefined();
  }, 60_000);

  it('refuses what cannot be read', async () => {
    const refused = await world.first.call<{ issues: { name: string; detail: string }[] }>(
      'POST',
      '/projects/default/integrations/hubspot-links/installations',
      {
        groupRef: 'refused',
        config: {
          content: {
            provider: 'hubspot',
            read: {
              objects: {
                contacts: {
                  objectName: 'contacts',
                  associations: { objects: ['deals', 'Deals'], schedule: '*/10 * * * *' },
                },
              },
            },
          },
        },
      },
    );
    expect(refused.status).toBe(422);
    expect(refused.body.issues.map(({ name }) => name).toSorted()).toEqual([
      'config.content.read.objects.contacts.associations.objects[1]',
      'config.content.read.objects.contacts.associations.schedule',
    ]);
  }, 30_000);
});
