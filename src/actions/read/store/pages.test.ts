import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/database.ts';
import { eventually, openDeliveryWorld, type DeliveryWorld } from '../../../deliveries/harness.fixture.ts';
import { newId } from '../../../kit/ids.ts';
import { keep, type Page } from './pages.ts';

describe('actions/read/store/pages', () => {
  let test: TestDatabase;
  let world: DeliveryWorld;
  let destinationId: string;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());
  beforeEach(async () => {
    world = openDeliveryWorld(test);
    const made = { name: 'inbox', type: 'webhook', metadata: { url: 'http://127.0.0.1:9/' } } as const;
    destinationId = (await world.deliveries.destinations.create(world.projectId, made)).id;
  });
  afterEach(() => world.close());

  const remove = (): Promise<void> =>
    world.deliveries.destinations.delete(world.projectId, 'inbox', { cancelPending: false });
  const blocked = () =>
    test.database.raw(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
  /** The first page of a run under way, with two messages. */
  const firstPage = async (): Promise<Page> => {
    const { projectId } = world;
    const [operationId, lease] = [newId(), newId()];
    await world.rows(
      `INSERT INTO read_run (project_id, id, installation_id, object, object_name, type, until)
      VALUES ($1, $2, $2, 'contacts', 'contacts', 'triggered', now())`,
      [projectId, operationId],
    );
    const [work] = await world.rows(
      `INSERT INTO work (project_id, ref, lane_id, kind, state, attempt, lease, due_at, deadline)
      VALUES ($1, $2, $2, 'read', 1, 1, $3, now(), now()) RETURNING seq`,
      [projectId, operationId, lease],
    );
    return {
      projectId,
      operationId,
      seq: String(work?.['seq']),
      lease,
      page: 1,
      pages: 1,
      cursor: null,
      deleted: false,
      processed: 2,
      emitted: 2,
      estimated: null,
      groupRef: 'acme',
      destinationId,
      hashes: Buffer.alloc(0),
      since: null,
      until: Date.now(),
      made: await world.messages(destinationId, 2),
    };
  };

  it('what a page queues is counted by a deletion of its destination that comes meanwhile', async () => {
    const page = await firstPage();
    let removed: Promise<unknown> | undefined;
    await test.database.transaction(async (tx) => {
      expect(await keep(tx, [page])).toEqual([[]]);
      removed = remove().catch((error: unknown) => error);
      expect(await eventually(blocked, (some) => some.length > 0)).toHaveLength(1);
    });
    expect(await removed).toMatchObject({ code: 'deliveries-waiting' });
  });

  it('no page is kept for a destination that was deleted before', async () => {
    const page = await firstPage();
    await remove();
    expect(await keep(test.database, [page])).toEqual([undefined]);
  });

  it('a page that is kept empties what was told of waiting', async () => {
    const page = await firstPage();
    const told = async () =>
      (await world.rows('SELECT told FROM read_run WHERE id = $1', [page.operationId]))[0]?.['told'];
    await world.rows(`UPDATE read_run SET told = '{destination}' WHERE id = $1`, [page.operationId]);
    expect(await keep(test.database, [page])).toEqual([[]]);
    expect(await told()).toEqual([]);
  });
});
