import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { encodings } from '../deliveries/encoding.ts';
import { eventually, openDeliveryWorld, type DeliveryWorld } from '../deliveries/harness.fixture.ts';
import { openWarehouse, type Warehouse } from '../deliveries/postgres/harness.fixture.ts';
import { createPostgres } from '../deliveries/postgres/index.ts';
import type { DestinationKind } from '../deliveries/kind.ts';
import { newId } from '../kit/ids.ts';
import { createLog } from '../kit/log.ts';
import { holdRestored, resumeRestored } from '../restore.ts';
import { transferOn } from './harness.fixture.ts';

const passphrase = 'correct horse battery staple';

describe('transfer/message-order', () => {
  const kind = createPostgres() as DestinationKind;
  let there: TestDatabase;
  let here: TestDatabase;
  let warehouse: Warehouse;

  beforeAll(async () => {
    [there, here, warehouse] = await Promise.all([
      createTestDatabase(),
      createTestDatabase(),
      openWarehouse(),
    ]);
  });
  afterAll(async () => {
    await kind.close?.();
    await Promise.all([there?.drop(), here?.drop(), warehouse?.close()]);
  });

  const resumed = async (nothingLost: boolean): Promise<void> => {
    const of = { url: here.url, name: 'here' };
    await holdRestored(here.url, of.name, () => undefined);
    await resumeRestored({ ...of, nothingLost, failoverMs: 0 }, createLog('silent'), () => undefined);
  };
  /** The record of the same version is read again, with another value. */
  const deliver = async (world: DeliveryWorld, destinationId: string, name: string) => {
    const result = [{ fields: {}, mappedFields: { name }, raw: {} }];
    const body = Buffer.from(JSON.stringify({ action: 'read', result }));
    const [id] = await world.queue(destinationId, 1, { encoding: encodings.plain, body, bytes: body.length });
    const statusOf = async () =>
      (await world.rows('SELECT status FROM delivery WHERE message_id = $1', [id]))[0]?.['status'];
    expect(await eventually(statusOf, (status) => status !== undefined)).toBe('delivered');
  };

  it('a table takes a change without a time from the server that the project was moved to', async () => {
    const from = openDeliveryWorld(there, { kinds: [kind] });
    const { id } = await from.deliveries.destinations.create(from.projectId, {
      name: 'warehouse',
      type: 'postgres',
      metadata: warehouse.metadata,
      secrets: { password: warehouse.password },
    });
    await from.work();
    await deliver(from, id, 'old');
    const project = { id: from.projectId, name: 'from' };
    const { file } = await transferOn(there.database, from.ground).export(project, {
      passphrase,
      move: true,
    });
    // It was set up long before, and made few messages.
    await here.database.raw(`SELECT setval('message_seq', 7)`);
    const to = openDeliveryWorld(here, { kinds: [kind], projectId: from.projectId });
    await transferOn(here.database, to.ground).import(to.projectId, { passphrase, file });
    await to.work();
    await deliver(to, id, 'new');
    expect(await warehouse.rows('SELECT name FROM crm.people')).toEqual([{ name: 'new' }]);
    await Promise.all([from.close(), to.close()]);
  });

  it.each<[what: string, done: () => Promise<unknown>]>([
    ['connections are taken back', () => transferOn(here.database).undo(newId())],
    ['a restore is resumed', () => resumed(false)],
    ['a restore of which nothing was lost is resumed', () => resumed(true)],
  ])('goes on above what was numbered meanwhile where %s', async (_what, done) => {
    await here.database.raw(`SELECT setval('message_seq', 7)`);
    const before = Date.now();
    await done();
    const [row] = await here.database.raw('SELECT last_value::float8 AS latest FROM message_seq');
    expect(row?.['latest']).toBeGreaterThan(before * 1_000);
  });
});
