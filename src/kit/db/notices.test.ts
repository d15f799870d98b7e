import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/database.ts';
import { startForwarder, type Forwarder } from '../../../test/forwarder.ts';
import { createNotices, type Notices } from './notices.ts';

describe('kit/db/notices', () => {
  let test: TestDatabase;
  let wire: Forwarder;
  let here: Notices;
  let there: Notices;
  let heard: string[];

  beforeEach(async () => {
    test = await createTestDatabase();
    wire = await startForwarder(test.url);
    here = createNotices(wire.url);
    there = createNotices(test.url);
    heard = [];
  });
  afterEach(async () => {
    await Promise.all([here.close(), there.close()]);
    await wire.close();
    await test.drop();
  });

  const sessions = async (): Promise<number> => {
    const rows = await test.database.raw(
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'svc notices'",
    );
    return Number(rows[0]?.['n']);
  };
  const listenTo = (channel: string) =>
    here.listen(channel, (payload) => heard.push(payload === undefined ? channel : `${channel} ${payload}`));

  it('listens to all channels and notifies over one connection', async () => {
    const stop = listenTo('test_a');
    listenTo('test_b');
    await expect.poll(() => heard.toSorted()).toEqual(['test_a', 'test_b']);
    await here.notify('test_a', "it's so");
    await there.notify('test_b', 'too');
    await there.notify('test_c', 'nobody');
    await expect.poll(() => heard.slice(2).toSorted()).toEqual(["test_a it's so", 'test_b too']);
    expect(await sessions()).toBe(2);
    stop();
    await there.notify('test_a', 'late');
    await there.notify('test_b', 'last');
    await expect.poll(() => heard.slice(4)).toEqual(['test_b last']);
  });

  it('opens the connection again after it was cut, and says that something may have been missed', async () => {
    listenTo('test_a');
    await expect.poll(() => heard).toEqual(['test_a']);
    wire.cut('refuse');
    await expect
      .poll(() =>
        here.notify('test_a').then(
          () => 'sent',
          () => 'lost',
        ),
      )
      .toBe('lost');
    wire.heal();
    await expect.poll(() => heard, { timeout: 8_000 }).toEqual(['test_a', 'test_a']);
    await there.notify('test_a', 'again');
    await expect.poll(() => heard[2]).toBe('test_a again');
    await here.notify('test_a', 'myself');
    await expect.poll(() => heard[3]).toBe('test_a myself');
    expect(await sessions()).toBe(2);
  });

  it('opens nothing before it is used, and nothing once it is closed', async () => {
    expect(await sessions()).toBe(0);
    await there.notify('test_a');
    expect(await sessions()).toBe(1);
    await there.close();
    await expect(there.notify('test_a')).rejects.toMatchObject({ code: 'database-unavailable' });
    await expect.poll(sessions).toBe(0);
  });
});
