import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { tellDeadLetters } from '../../src/deliveries/dead-letters.ts';
import { eventTypes } from '../../src/events/index.ts';
import { fault } from '../customer.ts';
import { openNotified, type Notified } from '../notified.ts';
import { ReadWorld } from '../read-world.ts';

describe('test/journeys/notifications-reads', () => {
  let world: ReadWorld;
  let notified: Notified;
  beforeAll(async () => {
    world = await ReadWorld.open();
    notified = await openNotified(world.first, 'told', eventTypes);
  }, 60_000);
  afterEach(() => world.uninstall());
  afterAll(async () => {
    await notified?.receiver.close();
    await world?.close();
  });

  /** Of both nodes: what the log says of it. */
  const linesOf = (msg: string) =>
    `${world.first.said()}\n${world.second.said()}`
      .split('\n')
      .filter((line) => line.includes(`"msg":"${msg}`))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const failing = (path: string, times: number) =>
    fault(world.first.hubspot, { path, times, fault: { kind: 'status', status: 400 } });
  /** A read that is refused where it stands begins anew three times. */
  const each = 4;

  it('tells of histories, of reads that were asked for, and of a schedule that is paused', async () => {
    const at = await world.contacts();
    const isIts = (data: Record<string, unknown>): boolean => data['installationId'] === at.installationId;

    const asked = await world.read(at, 'contacts', { sinceTimestamp: '2026-01-01T00:00:00.000Z' });
    const done = await notified.until('read.triggered.done', isIts);
    expect(done.data).toMatchObject({
      objectName: 'contacts',
      operationId: asked.body.operationId,
      fromTimestamp: '2026-01-01T00:00:00.000Z',
      untilTimestamp: expect.any(String),
      groupRef: at.groupRef,
      config: { read: { objects: { contacts: {} } } },
    });
    await failing('/contacts/search', each);
    const refused = await world.read(at, 'contacts', { sinceTimestamp: '2026-01-01T00:00:00.000Z' });
    const failed = await notified.until('read.triggered.error', isIts);
    expect(failed.data['error']).toMatch(/^\[contacts\] /);
    const { groupRef } = at;
    const { operationId } = refused.body;
    const requestId = refused.headers.get('x-request-id');
    const whose = { groupRef, operationId, requestId, provider: 'hubspot' };
    await expect.poll(() => linesOf('an operation failed')).toMatchObject([whose]);

    for (let n = 0; n < 2; n += 1) {
      await failing('/contacts/search', 1);
      await world.tick(at, 'contacts');
    }
    const paused = await notified.until('read.schedule.paused', isIts);
    expect(paused.data).toMatchObject({
      objectName: 'contacts',
      error: expect.stringMatching(/^\[contacts\]/),
    });

    await expect
      .poll(() => linesOf('a read was paused'))
      .toMatchObject([{ groupRef, installationId: at.installationId, object: 'contacts' }]);

    const companies = { objectName: 'companies', selectedFieldsAuto: 'all' };
    const other = await world.customer({ read: { objects: { companies } } });
    const history = await notified.until(
      'read.backfill.done',
      ({ installationId }) => installationId === other.installationId,
    );
    expect(history.data).toMatchObject({ objectName: 'companies' });
    await failing('/objects/companies?limit', each);
    const third = await world.customer({ read: { objects: { companies } } }, 'hubspot-crm', {
      skipSampling: true,
    });
    const lost = await notified.until(
      'read.backfill.error',
      ({ installationId }) => installationId === third.installationId,
    );
    expect(lost.data['error']).toMatch(/^\[companies\] /);
  }, 90_000);

  it('tells once of a read that waits for its destination, and of deliveries that ran out of attempts', async () => {
    const tickets = {
      objectName: 'tickets',
      selectedFieldsAuto: 'all',
      backfill: { defaultPeriod: { fullHistory: true } },
    };
    const at = await world.customer({ read: { objects: { tickets } } });
    const waiting = await notified.until(
      'read.waiting',
      ({ installationId }) => installationId === at.installationId,
    );
    expect(waiting.data['error']).toContain('there is no destination nowhere');

    await world.test.database.raw(
      `UPDATE destination SET dead_letters = 3, dead_since = svc_now() - interval '1 minute' WHERE name = 'inbox'`,
    );
    await tellDeadLetters(world.test.database, 0);
    const dead = await notified.until('destination.deliveries.failed');
    expect(dead.data).toMatchObject({ destinationName: 'inbox', count: 3 });
  }, 60_000);
});
