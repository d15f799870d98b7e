import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../kit/ids.ts';
import { createHarness, type Harness } from '../harness.fixture.ts';
import type { Connections } from '../index.ts';
import { openWindow } from './store.ts';

const limit = (forMs: number) => ({ forMs, lockedOut: false });
/** Calls, by the credentials that they carry: those that new ones replace, and these. */
const [former, later] = [{ generation: 2 }, { generation: 3 }];

async function until(holds: () => boolean, withinMs: number): Promise<number> {
  const startedAt = performance.now();
  while (!holds()) {
    if (performance.now() - startedAt > withinMs) throw new Error(`not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return performance.now() - startedAt;
}

describe('connections/budget', () => {
  let harness: Harness;
  let here: Connections['budget'];
  let there: Connections['budget'];
  const project = newId();

  beforeAll(async () => {
    harness = await createHarness({});
    here = harness.connections.budget;
    there = harness.secondNode().budget;
    await Promise.all([here.ready(), there.ready()]);
    // The listening connection of each is open once a notification has passed.
    const probe = newId();
    here.close(project, probe, limit(60_000), former);
    await until(() => there.closed(project, probe) !== undefined, 5_000);
  });
  afterAll(() => harness?.close());

  const stored = (id: string) =>
    harness.ground.database.raw(
      'SELECT xmin::text, extract(epoch FROM closed_until)::float8 * 1000 AS until, locked_out FROM budget WHERE connection_id = $1',
      [id],
    );

  /** A transaction that holds the row, so that nothing is stored meanwhile. */
  const held = (id: string, work: () => Promise<void>): Promise<void> =>
    harness.ground.database.transaction(async (tx) => {
      const text = 'SELECT FROM budget WHERE connection_id = $1 FOR UPDATE';
      await tx.rows({ name: 'test_lock_budget', text }, [id]);
      await work();
    });

  test('an unknown connection may send', () => {
    expect(here.closed(project, newId())).toBeUndefined();
    expect(here.waitMs(project, newId(), 'write')).toBe(0);
  });

  test('a closed window holds here at once and on the other node within 100 ms, until the same moment', async () => {
    const id = newId();
    const closure = here.close(project, id, { forMs: 20_000, lockedOut: true }, former);
    expect(here.waitMs(project, id, 'write')).toBeGreaterThan(19_900);
    expect(await until(() => there.closed(project, id) !== undefined, 2_000)).toBeLessThan(100);
    expect(there.closed(project, id)).toMatchObject({ until: closure.until, lockedOut: true });
    expect(there.waitMs(project, id, 'interactive')).toBeGreaterThan(19_000);
    expect(there.closed(newId(), id)).toBeUndefined();
  });

  test('a window opens when its time is over', async () => {
    const id = newId();
    here.close(project, id, limit(30), former);
    expect(here.closed(project, id)).toBeDefined();
    expect(await until(() => here.closed(project, id) === undefined, 3_000)).toBeLessThan(1_100);
  });

  test('it is stored once: neither questions nor a handful of further refusals write', async () => {
    const id = newId();
    const { until: end } = here.close(project, id, limit(20_000), former);
    let rows: Record<string, unknown>[] = [];
    await expect.poll(async () => (rows = await stored(id))).toHaveLength(1);
    expect(rows[0]).toMatchObject({ until: end, locked_out: false });
    for (let i = 0; i < 20; i++) {
      here.close(project, id, limit(20_000), former);
      here.close(project, id, limit(10), former);
      here.waitMs(project, id, 'write');
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await stored(id)).toEqual(rows);
  });

  test('a longer wait extends it everywhere, a shorter one changes nothing', async () => {
    const id = newId();
    here.close(project, id, limit(10_000), former);
    const long = there.close(project, id, limit(40_000), former);
    await until(() => here.closed(project, id)?.until === long.until, 2_000);
    here.close(project, id, limit(5_000), former);
    expect(here.closed(project, id)?.until).toBe(long.until);
    await expect.poll(async () => (await stored(id))[0]?.['until']).toBe(long.until);
  });

  test('a node that starts later knows what is closed', async () => {
    const id = newId();
    here.close(project, id, limit(30_000), former);
    await expect.poll(() => stored(id)).toHaveLength(1);
    const late = harness.secondNode().budget;
    await late.ready();
    expect(late.closed(project, id)?.until).toBe(here.closed(project, id)?.until);
  });

  test('a lost notification is found by polling, and the connection is opened again', async () => {
    await harness.ground.database.raw(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'svc notices' AND datname = current_database()`,
    );
    const id = newId();
    here.close(project, id, limit(30_000), former);
    await until(() => there.closed(project, id) !== undefined, 3_000);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const again = newId();
    here.close(project, again, limit(30_000), former);
    expect(await until(() => there.closed(project, again) !== undefined, 2_000)).toBeLessThan(300);
  });

  test('new credentials open the window on every node within a second; a limit after that closes it', async () => {
    const id = newId();
    const isClosed = (node: Connections['budget']) => node.closed(project, id) !== undefined;
    here.close(project, id, limit(40_000), former);
    await until(() => isClosed(there), 2_000);
    await expect.poll(() => stored(id)).toHaveLength(1);
    await harness.ground.database.transaction((tx) => openWindow(tx, [project, id], later.generation));
    await here.look();
    expect(isClosed(here)).toBe(false);
    await until(() => !isClosed(there), 3_000);
    here.close(project, id, limit(20_000), later);
    await expect.poll(async () => Number((await stored(id))[0]?.['until'])).toBeGreaterThan(Date.now());
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect([isClosed(here), isClosed(there)]).toEqual([true, true]);
  });

  test('a window that is not stored yet stays closed, whatever the end of the one before', async () => {
    const id = newId();
    here.close(project, id, limit(1_000), former);
    await expect.poll(() => stored(id)).toHaveLength(1);
    await until(() => here.closed(project, id) === undefined, 4_000);
    await held(id, async () => {
      here.close(project, id, limit(40_000), former);
      await here.look();
      expect(here.closed(project, id)).toBeDefined();
    });
  });

  test('a window that is closed for longer keeps its new end while that is not stored yet', async () => {
    const id = newId();
    here.close(project, id, limit(1_000), former);
    await expect.poll(() => stored(id)).toHaveLength(1);
    await held(id, async () => {
      here.close(project, id, limit(40_000), former);
      await new Promise((resolve) => setTimeout(resolve, 2_500));
      await here.look();
      expect(here.closed(project, id)).toBeDefined();
    });
  });

  test('a limit of which a call tells that carried the credentials before closes nothing, whenever it began', async () => {
    const [known, unknown] = [newId(), newId()];
    here.close(project, known, limit(40_000), former);
    await expect.poll(() => stored(known)).toHaveLength(1);
    for (const id of [known, unknown])
      await harness.ground.database.transaction((tx) => openWindow(tx, [project, id], later.generation));
    // One node tells of it before it knows of the new credentials, another after.
    await there.look();
    for (const node of [here, there])
      for (const id of [known, unknown]) {
        const told = node.close(project, id, limit(80_000), former);
        expect(told.until).toBeGreaterThan(here.now());
      }
    // Nor does what the other node tells of it.
    for (let n = 0; n < 30; n += 1) {
      for (const id of [known, unknown]) expect(there.closed(project, id)).toBeUndefined();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    for (const node of [here, there]) {
      await node.look();
      for (const id of [known, unknown]) expect(node.closed(project, id)).toBeUndefined();
    }
    expect(here.close(project, known, limit(20_000), later).until).toBe(here.closed(project, known)?.until);
  });

  test('a short limit of new credentials does not keep the long one of those before', async () => {
    const id = newId();
    here.close(project, id, limit(3_600_000), former);
    await expect.poll(() => stored(id)).toHaveLength(1);
    await harness.ground.database.transaction((tx) => openWindow(tx, [project, id], later.generation));
    // This node may not know yet that the window was opened.
    here.close(project, id, limit(5_000), later);
    await here.look();
    expect(here.waitMs(project, id, 'write')).toBeLessThan(6_000);
  });

  test('who is to wait for long is told of what was opened a moment ago', async () => {
    const id = newId();
    here.close(project, id, limit(40_000), former);
    await until(() => there.closed(project, id) !== undefined, 2_000);
    await expect.poll(() => stored(id)).toHaveLength(1);
    await harness.ground.database.transaction((tx) => openWindow(tx, [project, id], later.generation));
    expect(await there.surelyWaitMs(project, id, 'read')).toBe(0);
  });

  test('what the provider told of its quota is forgotten with the credentials before, and what calls tell that carry them', async () => {
    const id = newId();
    const wait = (node: Connections['budget']) => node.waitMs(project, id, 'backfill');
    const tell = (node: Connections['budget'], used: number, call: { generation: number }) => {
      const headers = { 'sforce-limit-info': `api-usage=${used}/5000` };
      node.observe(project, id, 'salesforce', { status: 200, headers, body: '' }, call);
      node.noteQuota(project, id, { limit: 10, remaining: 10 - (used % 7) }, call);
    };
    tell(there, 4_999, former);
    expect(wait(there)).toBeGreaterThan(800_000);
    await harness.ground.database.transaction((tx) => openWindow(tx, [project, id], later.generation));
    expect(await there.surelyWaitMs(project, id, 'backfill')).toBe(0);
    expect(there.quota(project, id)).toBeUndefined();
    tell(there, 4_999, former);
    expect([wait(there), there.quota(project, id)]).toEqual([0, undefined]);
    tell(there, 4_998, later);
    await there.look();
    expect(wait(there)).toBeGreaterThan(800_000);
    expect(there.quota(project, id)).toBeDefined();
  });

  test('a node that was away for long learns what was opened meanwhile', async () => {
    const id = newId();
    const away = harness.secondNode().budget;
    await away.ready();
    here.close(project, id, limit(3_600_000), former);
    await until(() => away.closed(project, id) !== undefined, 3_000);
    await expect.poll(() => stored(id)).toHaveLength(1);
    await away.end();
    await harness.ground.database.transaction((tx) => openWindow(tx, [project, id], later.generation));
    await harness.shiftClock('10 minutes');
    await away.look();
    expect(away.closed(project, id)).toBeUndefined();
  });

  test('the database’s clock decides', async () => {
    const id = newId();
    here.close(project, id, limit(600_000), former);
    await until(() => there.closed(project, id) !== undefined, 2_000);
    await harness.shiftClock('11 minutes');
    await until(() => !here.closed(project, id) && !there.closed(project, id), 3_000);
    expect(here.waitMs(project, id, 'write')).toBe(0);
  });
});
