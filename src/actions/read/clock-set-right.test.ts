import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { fault, simulator, type Customer } from '../../../test/customer.ts';
import { startPlatform } from '../../../test/platform.ts';
import { ReadWorld } from '../../../test/read-world.ts';

const hourMs = 3_600_000;

describe('actions/read, where the clock of the database is set right', () => {
  let world: ReadWorld;
  beforeAll(async () => {
    world = await ReadWorld.open();
  }, 60_000);
  afterEach(() => world.uninstall());
  afterAll(() => world?.close());

  /** Of the database alone; nobody else sees it. */
  const moveClock = (ms: number) =>
    world.test.database.raw(`UPDATE clock SET shift = shift + $1 * interval '1 millisecond'`, [ms]);
  /** The nodes look at it each second: before, and after. */
  async function setRight(aheadMs: number): Promise<void> {
    await sleep(3_000);
    await moveClock(-aheadMs);
    await sleep(3_000);
  }
  async function begunAhead(aheadMs: number): Promise<Customer> {
    await moveClock(aheadMs);
    const at = await world.contacts();
    expect(Date.parse((await world.stateOf(at, 'contacts')).watermark)).toBeGreaterThan(
      world.now() + aheadMs - 60_000,
    );
    return at;
  }
  const found = (at: Customer): string[] =>
    world.receiver.entries({ groupRef: at.groupRef }).map(({ raw }) => raw.id);

  it('reads what changed since it began, where that was hours ahead', async () => {
    const at = await begunAhead(2 * hourMs);
    await setRight(2 * hourMs);
    const { ids } = await world.change('contacts', undefined, { email: 'right@example.com' });
    await world.tick(at, 'contacts');
    expect(found(at)).toContain(ids[0]);
    expect((await world.tick(at, 'contacts')).metadata.read.emitted).toBe(0);
  }, 60_000);

  it('reads what changed since it began, where it was ahead for longer than by how much', async () => {
    const at = await begunAhead(hourMs / 2);
    const verb = (what: string) => world.first.call('POST', `/read/v1${world.place(at)}:${what}`, {});
    expect((await verb('pause')).status).toBe(204);
    const { ids } = await world.change('contacts', undefined, { email: 'while@example.com' });
    await world.pass(40);
    await setRight(hourMs / 2);
    expect((await verb('unpause')).status).toBe(204);
    await world.tick(at, 'contacts');
    expect(found(at)).toContain(ids[0]);
  }, 60_000);

  it('reads what changed since it began, where no node ran when that was set right', async () => {
    const at = await world.contacts();
    await world.stateOf(at, 'contacts');
    // As a node left it that stopped before.
    await world.test.database.raw(
      `UPDATE read_feed SET started_at = started_at + interval '2 hours', watermark = watermark + interval '2 hours',
        next_at = next_at + interval '2 hours' WHERE installation_id = $1`,
      [at.installationId],
    );
    const { ids } = await world.change('contacts', undefined, { email: 'stopped@example.com' });
    const started = await startPlatform({ databaseUrl: world.test.url, beside: world.first });
    await world.until('its first look', async () => {
      return Date.parse((await world.stateOf(at, 'contacts')).watermark) < world.now();
    });
    await started.stop();
    await world.tick(at, 'contacts');
    expect(found(at)).toContain(ids[0]);
  }, 60_000);

  it('reads it also by a run that waited meanwhile', async () => {
    const at = await begunAhead(hourMs / 2);
    await fault(world.first.hubspot, {
      path: '/contacts/search',
      times: 1_000,
      fault: { kind: 'status', status: 503 },
    });
    const { ids } = await world.change('contacts', undefined, { email: 'waited@example.com' });
    const run = await world.until('a run that fails', async () => {
      await world.pass(10);
      const { lastRun } = await world.stateOf(at, 'contacts');
      return lastRun?.operationId;
    });
    await world.pass(30);
    await setRight(hourMs / 2);
    await simulator(world.first.hubspot, 'DELETE', '/faults');
    await world.until('its end', async () => {
      await world.pass(5);
      return (await at.operation(run)).status !== 'in_progress';
    });
    expect(await world.delivered(at, run)).toMatchObject({ status: 'success' });
    expect(found(at)).toContain(ids[0]);
  }, 60_000);
});
