import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { wholeProject } from '../events/index.ts';
import { firstIdAt } from '../kit/ids.ts';
import {
  eventually,
  openDeliveryWorld,
  startReceiver,
  type DeliveryWorld,
  type Receiver,
} from './harness.fixture.ts';
import { cutMessages, keepMessages } from './index.ts';
import { forgetResults } from './store/forget.ts';

/** What a project does not want kept. */
describe('deliveries/keep-days', () => {
  let test: TestDatabase;
  let world: DeliveryWorld;
  let receiver: Receiver;
  let other: Receiver;
  let mine: string;
  let elsewhere: string;
  beforeAll(async () => {
    test = await createTestDatabase({ poolSize: 20 });
  });
  afterAll(() => test.drop());
  beforeEach(async () => {
    world = openDeliveryWorld(test);
    receiver = await startReceiver();
    other = await startReceiver();
    await world.rows(`INSERT INTO project (id, name, app_name) VALUES ($1, $1::uuid::text, '')`, [
      world.projectId,
    ]);
  });
  afterEach(async () => {
    await world.close();
    await receiver.close();
    await other.close();
  });

  /** Before a destination is looked at for the first time: it is remembered for two seconds. */
  const keep = async (messages: number): Promise<void> => {
    await world.rows('UPDATE project SET keep_days = $2 WHERE id = $1', [world.projectId, { messages }]);
    const create = async (name: string, url: string): Promise<string> =>
      (
        await world.deliveries.destinations.create(world.projectId, {
          name,
          type: 'webhook',
          metadata: { url },
        })
      ).id;
    mine = await create('mine', receiver.url);
    elsewhere = await create('elsewhere', other.url);
  };
  const work = () => world.rows('SELECT FROM work WHERE project_id = $1', [world.projectId]);
  const idle = () => eventually(work, (rows) => rows.length === 0);
  const statusOf = (id: string) =>
    eventually(
      () =>
        world.rows('SELECT status, error FROM delivery WHERE message_id = $1 AND destination_id = $2', [
          id,
          mine,
        ]),
      ([row]) => row !== undefined && row['status'] !== 'pending',
    );
  const bodies = async () =>
    (
      await world.rows(
        `SELECT octet_length(body) > 0 AS body, keys::text <> '[]' AS keys FROM message WHERE project_id = $1 ORDER BY id`,
        [world.projectId],
      )
    ).map(({ body, keys }) => [body, keys]);
  const get = (id: string) => world.deliveries.log.get(wholeProject(world.projectId), id, true);
  const list = async () =>
    (await world.deliveries.log.list(wholeProject(world.projectId), { pageSize: 100 })).results.map(
      ({ id }) => id,
    );
  const dryRun = async (filter: object) =>
    (await world.deliveries.replays.start(world.projectId, { filter, dryRun: true, destination: 'mine' }))
      .count;
  const oldId = (days: number, id: string): string =>
    firstIdAt(new Date(Date.now() - days * 86_400_000).toISOString()).slice(0, 14) + id.slice(14);

  it('with 0 the content of a message is gone with the commit that says that it was delivered', async () => {
    await keep(0);
    await world.work();
    const [id] = await world.queue(mine, 1);
    expect(await statusOf(id!)).toMatchObject([{ status: 'delivered' }]);
    expect(await bodies()).toEqual([[false, false]]);
    expect(receiver.received[0]!.body).toContain('"result":[{');
    const shown = await get(id!);
    expect([shown.status, 'body' in shown, shown.numRecords, shown.attempts.length]).toEqual([
      'delivered',
      false,
      1,
      1,
    ]);
    expect(await dryRun({})).toBe(0);
    await expect(world.deliveries.log.retry(wholeProject(world.projectId), id!)).rejects.toMatchObject({
      code: 'message-not-kept',
    });
    expect(receiver.received).toHaveLength(1);
  });

  it('with 0 what was handed over from memory is gone as well', async () => {
    await keep(0);
    const kept = await world.messages(mine, 3);
    const offer = await world.deliveries.handOver.offer(kept);
    offer.kept(await keepMessages(test.database, offer.messages));
    await idle();
    expect(receiver.received).toHaveLength(3);
    expect(await bodies()).toEqual([0, 1, 2].map(() => [false, false]));
  });

  it('with 0 a dead letter keeps its content, and a message that a replay sent elsewhere loses it when it is delivered at home', async () => {
    await keep(0);
    receiver.answer = (response) => response.writeHead(500).end();
    await world.work();
    const [id] = await world.queue(mine, 1);
    await world.rows(`UPDATE work SET attempt = 9 WHERE project_id = $1`, [world.projectId]);
    await eventually(
      async () => {
        await world.hurry();
        return (await statusOf(id!))[0];
      },
      (row) => row?.['status'] === 'failed',
    );
    expect(await bodies()).toEqual([[true, true]]);
    await world.deliveries.replays.start(world.projectId, {
      filter: { destination: 'mine' },
      destination: 'elsewhere',
    });
    await eventually(
      () => other.received.length,
      (n) => n === 1,
    );
    await idle();
    expect(await bodies()).toEqual([[true, true]]);
    receiver.answer = (response) => response.writeHead(204).end();
    await world.deliveries.log.retry(wholeProject(world.projectId), id!);
    await eventually(bodies, ([row]) => row![0] === false);
    expect(await bodies()).toEqual([[false, false]]);
    expect(elsewhere).not.toBe(mine);
  });

  it('with 0 the records that a message links to stay while the link is good, and are swept after', async () => {
    await keep(0);
    const [small] = await world.messages(mine, 1);
    const { projectId, installationId } = small!;
    const json = JSON.stringify({ raw: { text: 'x'.repeat(400_000) } });
    const [large] = await cutMessages(
      { action: 'read', projectId } as never,
      [{ json, key: { id: '1', version: '', deleted: false } }],
      {
        projectId,
        installationId,
        operationId: null,
        groupRef: 'acme',
        object: 'people',
        destinationId: mine,
        page: 1,
        publicUrl: 'http://svc.test',
      },
    );
    await keepMessages(test.database, [large!]);
    await world.work();
    await statusOf(large!.id);
    const { resultInfo } = JSON.parse(receiver.received[0]!.body) as { resultInfo: { downloadUrl: string } };
    const secret = new URL(resultInfo.downloadUrl).searchParams.get('secret')!;
    const ask = () => world.deliveries.log.resultOf({ projectId, id: large!.id, secret });
    await forgetResults(test.database);
    expect((await ask()).toString()).toBe(`[${json}]`);
    await world.rows(`UPDATE delivery SET last_at = last_at - interval '2 hours' WHERE message_id = $1`, [
      large!.id,
    ]);
    await forgetResults(test.database);
    const [left] = await world.rows('SELECT body, result, link_hash FROM message WHERE id = $1', [large!.id]);
    expect(left).toEqual({ body: Buffer.alloc(0), result: null, link_hash: null });
  });

  it('what is past the days of its project is not shown, not replayed and not sent', async () => {
    await keep(3);
    await world.deliveries.destinations.disable(world.projectId, 'mine');
    const [first, second] = (await world.messages(mine, 2)).map((message) => message.id);
    const [kept, past] = [oldId(2, first!), oldId(4, second!)];
    for (const id of [kept, past]) await world.queue(mine, 1, { id });
    expect(await list()).toEqual([kept]);
    await expect(get(past)).rejects.toMatchObject({ code: 'not-found' });
    expect(await get(kept)).toMatchObject({ body: expect.stringContaining('"result"') as string });
    await world.work();
    await world.deliveries.destinations.enable(world.projectId, 'mine');
    expect(await statusOf(kept)).toMatchObject([{ status: 'delivered' }]);
    expect(await statusOf(past)).toMatchObject([
      { status: 'canceled', error: expect.stringContaining('keepDays.messages') as string },
    ]);
    expect(receiver.ids()).toEqual([kept]);
    expect([
      await dryRun({}),
      await dryRun({ status: 'canceled' }),
      await dryRun({ destination: 'mine' }),
    ]).toEqual([1, 0, 1]);
  });
});
