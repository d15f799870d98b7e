import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, deploy, install, simulator, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';
import type { ReadOperation, ReadStateBody } from '../read-world.ts';
import { startReceiver, type Receiver } from '../receiver.ts';

const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    read:
      objects:
        - objectName: companies
          destination: inbox
          schedule: '0 3 * * *'
          requiredFields: [{ fieldName: name }]
          backfill: { defaultPeriod: { fullHistory: true } }
`;
/** Three pages of a list. */
const companies = 250;
/** The account that the simulator gives, and another one. */
const [own, other] = ['244001', '77777777'];

describe('journeys/read-another-account', () => {
  let test: TestDatabase;
  let platform: Platform;
  let receiver: Receiver;
  let place: string;
  let ids: string[];

  beforeAll(async () => {
    test = await createTestDatabase();
    receiver = await startReceiver();
    platform = await startPlatform({ databaseUrl: test.url, records: 0 });
    place = `/projects/${platform.projectId}`;
    await deploy(platform, manifest);
    await platform.call('POST', `${place}/destinations`, {
      name: 'inbox',
      type: 'webhook',
      metadata: { url: receiver.url },
    });
    const records = Array.from({ length: companies }, (_, at) => ({ properties: { name: `name ${at}` } }));
    ({ ids } = await simulator<{ ids: string[] }>(platform.hubspot, 'POST', '/data', {
      object: 'companies',
      records,
    }));
    await test.database.raw(`
      CREATE FUNCTION not_yet() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'not yet';
      END $$`);
  }, 60_000);
  afterAll(async () => {
    await platform?.stop();
    await receiver?.close();
    await test?.drop();
  });

  const hold = () =>
    test.database.raw(
      `CREATE TRIGGER not_yet BEFORE INSERT ON message FOR EACH ROW WHEN (NEW.page = 2) EXECUTE FUNCTION not_yet()`,
    );
  const letGo = () => test.database.raw('DROP TRIGGER not_yet ON message');
  const of = ({ installationId }: Customer) =>
    `${place}/integrations/hubspot-crm/installations/${installationId}`;
  const verb = (at: Customer, what: string) => platform.call('POST', `/read/v1${of(at)}:${what}`, {});
  const state = async (at: Customer) =>
    (await platform.call<ReadStateBody[]>('GET', `${of(at)}/reads`)).body[0]!;
  const pageOf = async (operationId: string | undefined) =>
    (await test.database.raw('SELECT page FROM read_run WHERE id = $1', [operationId]))[0]?.['page'];
  const begin = (groupRef: string): Promise<Customer> =>
    install(platform, 'hubspot-crm', groupRef, {
      read: { objects: { companies: { objectName: 'companies' } } },
    });
  /** The id of its history, of which one page is kept and no more until it is let go. */
  const half = async (at: Customer): Promise<string> => {
    await expect
      .poll(async () => pageOf((await state(at)).backfill?.operationId), { timeout: 20_000 })
      .toBe(1);
    return (await state(at)).backfill!.operationId;
  };
  /** The installation goes over to another account of the group. */
  async function moveOver(at: Customer): Promise<void> {
    await simulator(platform.hubspot, 'POST', '/consent', { account: other });
    const connectionId = await connect(platform, 'hubspot', at.groupRef);
    expect(connectionId).not.toBe(at.connectionId);
    const moved = await platform.call('PATCH', `${of(at)}?skipSampling=true`, {
      updateMask: ['connectionId'],
      installation: { connectionId },
    });
    expect(moved.status).toBe(200);
    await simulator(platform.hubspot, 'POST', '/consent', { account: own });
  }
  const arrivedFrom = (at: Customer, workspace: string): string[] =>
    receiver.received
      .map(({ body }) => body)
      .filter((body) => body.groupRef === at.groupRef && body.workspace === workspace)
      .flatMap(({ result = [] }) => result.map(({ raw }) => raw.id));
  const unique = (some: string[]) => [...new Set(some)].toSorted();

  it('is read from its beginning, though the history of the one before was under way', async () => {
    await hold();
    const at = await begin('over');
    const former = await half(at);
    await moveOver(at);
    await letGo();
    const ended = await at.settled(former);
    expect(ended).toMatchObject({
      status: 'failure',
      result: expect.stringContaining('its account is read as that of a new installation'),
    });
    await expect.poll(() => unique(arrivedFrom(at, other)), { timeout: 20_000 }).toEqual(ids.toSorted());
    const { backfill } = await state(at);
    const history = (await at.settled(backfill!.operationId)) as ReadOperation;
    expect(history).toMatchObject({ status: 'success', metadata: { read: { emitted: companies } } });
    expect(history.id).not.toBe(former);
  }, 60_000);

  it('is not read by a run that was asked for at the one before', async () => {
    await hold();
    const at = await begin('asked');
    await half(at);
    const asked = await platform.call<{ operationId: string }>(
      'POST',
      `/read/v1${place}/integrations/hubspot-crm/objects/companies`,
      { groupRef: at.groupRef, mode: 'async' },
    );
    const { operationId } = asked.body;
    await expect.poll(() => pageOf(operationId), { timeout: 20_000 }).toBe(1);
    await moveOver(at);
    await letGo();
    expect(await at.settled(operationId)).toMatchObject({
      status: 'failure',
      result: expect.stringContaining('ask for it again'),
    });
  }, 60_000);

  it('waits where reading was paused, and is then read from its beginning', async () => {
    await hold();
    const at = await begin('paused');
    const former = await half(at);
    expect((await verb(at, 'pause')).status).toBe(204);
    await moveOver(at);
    await letGo();
    expect(await at.settled(former)).toMatchObject({ status: 'failure' });
    expect(await state(at)).toMatchObject({ paused: { reason: 'installation' } });
    expect(arrivedFrom(at, other)).toEqual([]);
    expect((await verb(at, 'unpause')).status).toBe(204);
    await expect.poll(() => unique(arrivedFrom(at, other)), { timeout: 20_000 }).toEqual(ids.toSorted());
  }, 60_000);
});
