import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploy, during, install, simulator, type Customer, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

interface Side {
  name: 'hubspot' | 'salesforce';
  object: string;
  required: (name: string) => Record<string, unknown>;
  change: Record<string, unknown>;
}

const sides: Side[] = [
  {
    name: 'hubspot',
    object: 'contacts',
    required: (name) => ({ email: `${name}@example.com` }),
    change: { firstname: 'Ada' },
  },
  {
    name: 'salesforce',
    object: 'Contact',
    required: (name) => ({ LastName: name }),
    change: { FirstName: 'Ada' },
  },
];

describe('test/journeys/write-fields', () => {
  let test: TestDatabase;
  let platform: Platform;
  const customers = {} as Record<'hubspot' | 'salesforce', Customer>;
  let count = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    customers.hubspot = await install(platform, 'hubspot-crm', 'acme', {
      read: {
        objects: { contacts: { objectName: 'contacts', selectedFieldMappings: { phone: 'mobilephone' } } },
      },
      write: { objects: { contacts: { objectName: 'contacts', deletionSettings: { enabled: true } } } },
    });
    customers.salesforce = await install(platform, 'salesforce-crm', 'acme', {
      write: { objects: { Contact: { objectName: 'Contact', deletionSettings: { enabled: true } } } },
    });
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const unique = (): string => `w${++count}`;
  const urlOf = ({ name }: Side) => platform[name];
  /** The record as the simulated provider keeps it. */
  const stored = async (side: Side, id: string): Promise<Record<string, unknown>> => {
    const found = await simulator<{ properties?: Record<string, unknown> }>(
      urlOf(side),
      'GET',
      `/data/${side.object}/${id}`,
    );
    return found.properties ?? found;
  };
  /** A HubSpot customer whose contacts have these field settings. */
  const withSettings = (
    groupRef: string,
    contacts: Record<string, unknown>,
    read: Record<string, unknown> = {},
  ) =>
    install(platform, 'hubspot-crm', groupRef, {
      ...read,
      write: { objects: { contacts: { objectName: 'contacts', ...contacts } } },
    });
  /** What the provider was sent for one record. */
  const sent = async (work: () => Promise<{ status: number; text: string }>) => {
    const { result, requests } = await during(platform.hubspot, work);
    expect(result).toMatchObject({ status: 200 });
    const writing = requests.filter(
      ({ method, path }) => path.includes('/objects/') && !path.includes('/batch/read') && method !== 'GET',
    );
    return writing.map(
      ({ body }) => (JSON.parse(body) as { properties: Record<string, unknown> }).properties,
    );
  };

  it('§4.2.7, §2.5 defaults fill what the request lacks, each kind of value', async () => {
    const customer = await withSettings('defaults', {
      selectedFieldSettings: {
        jobtitle: { default: { stringValue: 'Engineer' } },
        zip: { default: { integerValue: 3000 } },
        state: { default: { booleanValue: false } },
      },
    });
    const [missing] = await sent(() =>
      customer.write('contacts', { type: 'create', record: { email: 'd1@example.com' } }),
    );
    expect(missing).toEqual({ email: 'd1@example.com', jobtitle: 'Engineer', zip: 3000, state: false });
    const [given] = await sent(() =>
      customer.write('contacts', {
        type: 'create',
        record: { email: 'd2@example.com', jobtitle: '', zip: null },
      }),
    );
    expect(given).toEqual({ email: 'd2@example.com', jobtitle: '', zip: null, state: false });
  });

  it('§2.5 writeOnCreate and writeOnUpdate decide whether a field is sent, the caller’s values too', async () => {
    const customer = await withSettings('policies', {
      selectedFieldSettings: {
        jobtitle: { writeOnCreate: 'always', writeOnUpdate: 'never' },
        city: { writeOnCreate: 'never', writeOnUpdate: 'always' },
        state: { writeOnCreate: 'never', writeOnUpdate: 'never', default: { stringValue: 'BE' } },
      },
    });
    const values = { jobtitle: 'a', city: 'b', state: 'c', firstname: 'Ada' };
    let id = '';
    const [created] = await sent(async () => {
      const made = await customer.write('contacts', {
        type: 'create',
        record: { email: 'p@example.com', ...values },
      });
      id = made.body.result?.recordId ?? '';
      return made;
    });
    expect(created).toEqual({ email: 'p@example.com', jobtitle: 'a', firstname: 'Ada' });
    const [updated] = await sent(() =>
      customer.write('contacts', { type: 'update', record: { id, ...values } }),
    );
    expect(updated).toEqual({ city: 'b', firstname: 'Ada' });
  });

  it.each(sides)('§4.2.3, §2.5 ifEmpty writes only where the record has no value: $name', async (side) => {
    const field = side.name === 'hubspot' ? 'jobtitle' : 'Title';
    const groupRef = `if-empty-${side.name}`;
    const customer = await install(platform, `${side.name}-crm` as 'hubspot-crm', groupRef, {
      write: {
        objects: {
          [side.object]: {
            objectName: side.object,
            selectedFieldSettings: { [field]: { writeOnUpdate: 'ifEmpty' } },
          },
        },
      },
    });
    const make = async (more: Record<string, unknown>) =>
      (await customer.write(side.object, { type: 'create', record: { ...side.required(unique()), ...more } }))
        .body.result!.recordId!;
    const [empty, filled] = [await make({}), await make({ [field]: 'Captain' })];
    for (const id of [empty, filled]) {
      expect(
        (
          await customer.write(side.object, {
            type: 'update',
            record: { id, [field]: 'Engineer', ...side.change },
          })
        ).status,
      ).toBe(200);
      expect(await stored(side, id)).toMatchObject(side.change);
    }
    expect((await stored(side, empty))[field]).toBe('Engineer');
    expect((await stored(side, filled))[field]).toBe('Captain');
    const { result, requests } = await during(urlOf(side), () =>
      customer.write(side.object, { type: 'update', record: { id: filled, [field]: 'Nobody' } }),
    );
    expect(result).toMatchObject({ status: 200, body: { result: { success: true } } });
    expect(requests.some(({ method }) => method === 'PATCH')).toBe(false);
  });

  it('§4.2.8, §2.1 with inheritMapping a mapped name goes to the customer’s field, an unset one is left away', async () => {
    const [mapped] = await sent(() =>
      customers.hubspot.write('contacts', {
        type: 'create',
        record: { email: 'm@example.com', phone: '1', notes: 'x', city: 'Bern' },
      }),
    );
    expect(mapped).toEqual({ email: 'm@example.com', mobilephone: '1', city: 'Bern' });
    const notes = { message: expect.stringMatching(/^notes was not sent: .*selectedFieldMappings/) };
    const record = { email: 'm2@example.com', notes: 'x' };
    for (const body of [
      { record },
      { record, dryRun: true },
      { record, mode: 'asynchronous' },
      { batch: [{ record }, { record: { notes: 'y' } }] },
    ])
      expect(await customers.hubspot.write('contacts', { type: 'create', ...body })).toMatchObject({
        body: { warnings: [notes] },
      });
    const twice = await customers.hubspot.write<ProblemBody>('contacts', {
      type: 'create',
      record: { phone: '1', mobilephone: '2' },
    });
    expect(twice).toMatchObject({ status: 400, body: { issues: [{ name: 'record.mobilephone' }] } });
  });

  it('§4.2.8 where the operator says so, fields that neither manifest nor config names are left away', async () => {
    const record = { email: 'only@example.com', phone: '1', city: 'Bern' };
    await platform.restart('SIGTERM', { SVC_MAPPED_FIELDS_ONLY: platform.projectId });
    try {
      const create = { type: 'create', record };
      const [mapped] = await sent(async () => {
        const made = await customers.hubspot.write('contacts', create);
        expect(made.body).toMatchObject({
          warnings: [{ message: expect.stringMatching(/^city was not sent: /) }],
        });
        return made;
      });
      expect(mapped).toEqual({ email: 'only@example.com', mobilephone: '1' });
      const by = { type: 'upsert', upsertBy: 'email', record: { ...record, phone: '2' } };
      const upserted = await customers.hubspot.write('contacts', by);
      expect(upserted.body).toMatchObject({ result: { success: true, created: false } });
    } finally {
      await platform.restart('SIGTERM');
    }
  });

  it('§2.5 the config’s inheritMapping wins over the manifest’s', async () => {
    const read = {
      read: {
        objects: { contacts: { objectName: 'contacts', selectedFieldMappings: { phone: 'mobilephone' } } },
      },
    };
    const off = await withSettings('inherit-off', { inheritMapping: false }, read);
    const [plain] = await sent(() =>
      off.write('contacts', { type: 'create', record: { email: 'i1@example.com', phone: '1' } }),
    );
    expect(plain).toEqual({ email: 'i1@example.com', phone: '1' });
  });

  it('§2.5 the deprecated value defaults are applied; applyOnUpdate never withholds the default only', async () => {
    const customer = await withSettings('value-defaults', {
      selectedValueDefaults: {
        jobtitle: { value: 'Engineer', applyOnUpdate: 'never' },
        city: { value: 'Bern' },
      },
    });
    let id = '';
    const [created] = await sent(async () => {
      const made = await customer.write('contacts', { type: 'create', record: { email: 'v@example.com' } });
      id = made.body.result?.recordId ?? '';
      return made;
    });
    expect(created).toEqual({ email: 'v@example.com', jobtitle: 'Engineer', city: 'Bern' });
    expect(
      await sent(() => customer.write('contacts', { type: 'update', record: { id, firstname: 'A' } })),
    ).toEqual([{ firstname: 'A', city: 'Bern' }]);
    expect(
      await sent(() => customer.write('contacts', { type: 'update', record: { id, jobtitle: 'B' } })),
    ).toEqual([{ jobtitle: 'B', city: 'Bern' }]);
  });
});
