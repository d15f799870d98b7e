import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { connect, fault, requestsOf, simulator, type ProblemBody } from '../customer.ts';
import { ReadWorld } from '../read-world.ts';

describe('test/journeys/read-schedules', () => {
  let world: ReadWorld;
  beforeAll(async () => {
    world = await ReadWorld.open();
  }, 60_000);
  afterEach(() => world.uninstall());
  afterAll(() => world?.close());

  it('makes one run of a tick on two nodes, and one of all that were missed', async () => {
    const at = await world.contacts();
    const runs = async (): Promise<number> => {
      const { body } = await world.first.call<{ results: { resource: string }[] }>(
        'GET',
        `${world.place(at)}/operations?pageSize=100`,
      );
      return body.results.filter(({ resource }) => resource === 'contacts').length;
    };
    for (let n = 0; n < 8; n += 1) await world.tick(at, 'contacts');
    expect(await runs()).toBe(8);
    await world.pass(24 * 60);
    await world.until('the run that makes up', async () => (await runs()) === 9);
    await world.tick(at, 'contacts');
    expect(await runs()).toBe(10);
  }, 90_000);

  it('does not start a run again that still goes on, and its log says so', async () => {
    const at = await world.contacts();
    await fault(world.first.hubspot, {
      path: '/contacts/search',
      times: 4,
      fault: { kind: 'status', status: 500 },
    });
    const before = await world.toTick(at, 'contacts');
    const running = await world.until('a run', async () => {
      const { lastRun } = await world.stateOf(at, 'contacts');
      return lastRun?.operationId !== before.lastRun?.operationId && lastRun;
    });
    expect(running.status).toBe('in_progress');
    await world.toTick(at, 'contacts');
    await world.until('the line', async () =>
      (await world.logsOf(running.operationId)).some((line) =>
        line.includes('was left out, since this run still goes on'),
      ),
    );
    // It is tried again later and later, and the last of the faults may still be to come.
    const ended = await world.until('its end', async () => {
      await world.pass(1);
      const found = await at.operation(running.operationId);
      return found.status !== 'in_progress' && found;
    });
    expect(ended).toMatchObject({ status: 'success' });
  }, 60_000);

  it('finds in its first run what a provider stamps whose clock was behind when reading began', async () => {
    const behind = (ms: number) => simulator(world.first.hubspot, 'POST', '/clock', { advanceMs: -ms });
    await behind(5 * 60_000);
    const at = await world.contacts();
    await world.stateOf(at, 'contacts');
    await world.change('contacts', undefined, { email: 'former@example.com' }, 8 * 60_000);
    const { ids } = await world.change('contacts', undefined, { email: 'first@example.com' }, 5 * 60_000);
    const run = await world.tick(at, 'contacts');
    const again = await world.tick(at, 'contacts');
    await behind(-5 * 60_000);
    const found = world.receiver.entries({ groupRef: at.groupRef }).map(({ raw }) => raw.id);
    expect(found).toEqual(ids);
    expect([run, again].map(({ metadata }) => metadata.read.emitted)).toEqual([1, 0]);
  }, 60_000);

  it('goes on reading where the clock of the database went back', async () => {
    const at = await world.contacts();
    await world.stateOf(at, 'contacts');
    await world.test.database.raw(
      `UPDATE read_feed SET started_at = started_at + interval '2 hours', watermark = watermark + interval '2 hours' WHERE installation_id = $1`,
      [at.installationId],
    );
    await world.toTick(at, 'contacts');
    const { ids } = await world.change('contacts', undefined, { email: 'back@example.com' }, 60_000);
    const run = await world.until('a run', async () => {
      const { lastRun } = await world.stateOf(at, 'contacts');
      return lastRun && lastRun.status !== 'in_progress' && lastRun;
    });
    expect(run.status).toBe('success');
    await world.tick(at, 'contacts');
    expect(world.receiver.entries({ groupRef: at.groupRef }).map(({ raw }) => raw.id)).toEqual(ids);
  }, 60_000);

  it('pauses and goes on where it stood; all calls may be made twice', async () => {
    const at = await world.contacts();
    const verb = (what: string, body: Record<string, unknown>) =>
      world.first.call('POST', `/read/v1${world.place(at)}:${what}`, body);
    for (let n = 0; n < 2; n += 1)
      expect((await verb('pause', { objects: ['people'], note: 'moving' })).status).toBe(204);
    expect(await world.stateOf(at, 'contacts')).toMatchObject({
      paused: { reason: 'object', note: 'moving' },
    });
    expect((await world.stateOf(at, 'contacts')).nextRunTime).toBeUndefined();
    await world.change('contacts', undefined, { email: 'paused@example.com' });
    await world.pass(60);
    for (let n = 0; n < 2; n += 1) expect((await verb('unpause', {})).status).toBe(204);
    const run = await world.tick(at, 'contacts');
    expect(run.metadata.read.emitted).toBe(1);
    const unknown = await verb('pause', { objects: ['nothing'] });
    expect([unknown.status, (unknown.body as unknown as ProblemBody).code]).toEqual([
      422,
      'object-not-in-config',
    ]);
  }, 60_000);

  it('goes on without a schedule where that is taken away meanwhile, and others are read by theirs', async () => {
    const [at, other] = [await world.contacts(), await world.contacts()];
    await Promise.all([at, other].map((one) => world.stateOf(one, 'contacts')));
    const verb = (what: string) => world.first.call('POST', `/read/v1${world.place(at)}:${what}`, {});
    expect((await verb('pause')).status).toBe(204);
    // As a node follows a config that has none any more.
    const taken = world.test.database.raw(
      `WITH taken AS (UPDATE read_feed SET schedule = NULL, tick_at = NULL, next_at = 'infinity' WHERE installation_id = $1 RETURNING 1)
      SELECT pg_sleep(1) FROM taken`,
      [at.installationId],
    );
    await sleep(300);
    expect((await verb('unpause')).status).toBe(204);
    await taken;
    const { nextRunTime } = await world.stateOf(at, 'contacts');
    await world.pass(60);
    await world.until('a run of the other', async () => (await world.stateOf(other, 'contacts')).lastRun);
    expect(nextRunTime).toBeUndefined();
  }, 60_000);

  it('leaves alone what rests, and lets it go on at once', async () => {
    await fault(world.first.hubspot, {
      path: '/objects/companies?limit',
      times: 1,
      fault: { kind: 'status', status: 503 },
    });
    const companies = { objectName: 'companies', selectedFieldsAuto: 'all' };
    const at = await world.customer({ read: { objects: { companies } } }, 'hubspot-crm', {
      skipSampling: true,
    });
    const verb = (what: string) => world.first.call('POST', `/read/v1${world.place(at)}:${what}`, {});
    const id = await world.until(
      'the backfill',
      async () => (await world.stateOf(at, 'companies')).backfill?.operationId,
    );
    expect((await verb('pause')).status).toBe(204);
    await world.until('rest for minutes', async () => {
      const [row] = await world.test.database.raw(
        `SELECT due_at > svc_now() + interval '4 minutes' AS rests FROM work WHERE ref = $1`,
        [id],
      );
      return row?.['rests'] === true;
    });
    expect((await verb('unpause')).status).toBe(204);
    expect(await world.delivered(at, id)).toMatchObject({ status: 'success' });
  }, 60_000);

  it('does not count the time in which a history rests as one in which the provider failed', async () => {
    const path = '/objects/companies?limit';
    await fault(world.first.hubspot, { path, times: 100, fault: { kind: 'status', status: 503 } });
    const companies = { objectName: 'companies', selectedFieldsAuto: 'all' };
    const at = await world.customer({ read: { objects: { companies } } }, 'hubspot-crm', {
      skipSampling: true,
    });
    const verb = (what: string) => world.first.call('POST', `/read/v1${world.place(at)}:${what}`, {});
    const id = await world.until(
      'the backfill',
      async () => (await world.stateOf(at, 'companies')).backfill?.operationId,
    );
    const run = async (what: string): Promise<boolean> => {
      const text = `SELECT ${what} AS is FROM read_run r JOIN work w ON w.ref = r.id WHERE r.id = $1`;
      return (await world.test.database.raw(text, [id]))[0]?.['is'] === true;
    };
    await world.until('a failure', () => run('failures > 0'));
    expect((await verb('pause')).status).toBe(204);
    await world.until('rest for minutes', () => run(`due_at > svc_now() + interval '4 minutes'`));
    // More than a day has at the longest wait.
    await world.test.database.raw('UPDATE read_run SET failures = 100 WHERE id = $1', [id]);
    await world.pass(2 * 24 * 60);
    expect((await verb('unpause')).status).toBe(204);
    // A node that the clock took the lane from cannot record what it met: the next one meets it, too.
    await world.until('another failure', () => run('failures > 100'));
    await simulator(world.first.hubspot, 'DELETE', '/faults');
    await world.pass(6);
    expect(await world.delivered(at, id)).toMatchObject({ status: 'success' });
  }, 60_000);

  it('keeps a history for a customer who has to connect again', async () => {
    await fault(world.first.hubspot, {
      path: '/objects/companies?limit',
      times: 1,
      fault: { kind: 'status', status: 403, body: { category: 'MISSING_SCOPES', message: 'no rights' } },
    });
    const companies = { objectName: 'companies', selectedFieldsAuto: 'all' };
    const at = await world.customer({ read: { objects: { companies } } }, 'hubspot-crm', {
      skipSampling: true,
    });
    const id = await world.until(
      'the backfill',
      async () => (await world.stateOf(at, 'companies')).backfill?.operationId,
    );
    await world.until('the line', async () =>
      (await world.logsOf(id)).some((line) => line.includes('until the account is connected again')),
    );
    await world.pass(6);
    expect(await world.delivered(at, id)).toMatchObject({ status: 'success' });
  }, 60_000);

  it.each([
    ['waits', { kind: 'status', status: 403, body: { category: 'MISSING_SCOPES', message: 'no rights' } }],
    ['asks for a page', { kind: 'delay', ms: 3_000 }],
  ])(
    'a history that %s ends with its object, which is read once when it is added again',
    async (_, slow) => {
      const url = world.first.hubspot;
      const before = (await requestsOf(url)).at(-1)?.seq ?? 0;
      await fault(url, { path: '/objects/companies?limit', times: 50, fault: slow });
      const companies = { objectName: 'companies', selectedFieldsAuto: 'all' };
      const at = await world.customer({ read: { objects: { companies } } }, 'hubspot-crm', {
        skipSampling: true,
      });
      const backfill = async () => (await world.stateOf(at, 'companies'))?.backfill?.operationId;
      const first = await world.until('the backfill', backfill);
      await world.until('a request', async () =>
        (await requestsOf(url, before)).some(({ path }) => path.includes('/objects/companies?limit')),
      );
      const save = async (objects: object): Promise<void> => {
        const body = {
          updateMask: ['config.content'],
          installation: { config: { content: { provider: 'hubspot', read: { objects } } } },
        };
        const saved = await world.first.call('PATCH', `${world.place(at)}?skipSampling=true`, body);
        expect([saved.status, saved.text]).toEqual([200, saved.text]);
        await world.stateOf(at, 'companies');
      };
      await save({});
      await simulator(url, 'DELETE', '/faults');
      await save({ companies });
      const second = await world.until('another backfill', async () => {
        const id = await backfill();
        return id !== first && id;
      });
      expect(await at.settled(first)).toMatchObject({
        status: 'failure',
        result: expect.stringContaining('not configured to be read'),
      });
      const { metadata, status } = await world.delivered(at, second);
      expect(status).toBe('success');
      const entries = world.receiver.entries({ groupRef: at.groupRef, readType: 'backfill' });
      expect(entries).toHaveLength(metadata.read.emitted);
    },
    60_000,
  );

  it('goes on with a history as soon as the customer has connected again', async () => {
    // So that nothing of it is read before the account is lost.
    const url = world.first.hubspot;
    const fails = { path: '/objects/companies?limit', fault: { kind: 'status', status: 503 } };
    await fault(url, { times: 1_000, ...fails });
    const companies = { objectName: 'companies', selectedFieldsAuto: 'all' };
    const at = await world.customer({ read: { objects: { companies } } }, 'hubspot-crm', {
      skipSampling: true,
    });
    for (const action of ['expire', 'revoke']) await simulator(url, 'POST', '/tokens', { action });
    await simulator(url, 'DELETE', '/faults');
    await world.pass(6);
    const id = await world.until(
      'the backfill',
      async () => (await world.stateOf(at, 'companies')).backfill?.operationId,
    );
    await world.until('the line', async () =>
      (await world.logsOf(id)).some((line) => line.includes('until the account is connected again')),
    );
    // Two seconds after its death all that waits for the connection is looked at, once; what is looked at just then waits five minutes.
    await sleep(3_000);
    expect(await connect(world.first, 'hubspot', at.groupRef)).toBe(at.connectionId);
    expect(await world.delivered(at, id)).toMatchObject({ status: 'success' });
  }, 60_000);

  it('follows the schedule of an object that goes on while the others of its installation rest', async () => {
    const at = await world.contacts();
    const verb = (what: string, body: Record<string, unknown>) =>
      world.first.call('POST', `/read/v1${world.place(at)}:${what}`, body);
    expect((await verb('pause', {})).status).toBe(204);
    expect(await world.stateOf(at, 'deals')).toMatchObject({ paused: { reason: 'installation' } });
    expect((await verb('unpause', { objects: ['contacts'] })).status).toBe(204);
    const changed = await world.first.call('PATCH', world.place(at), {
      updateMask: ['config.content.read.objects.contacts'],
      installation: {
        config: {
          content: { read: { objects: { contacts: { objectName: 'contacts', schedule: '15 * * * *' } } } },
        },
      },
    });
    expect(changed.status).toBe(200);
    const state = await world.until('the schedule', async () => {
      const found = await world.stateOf(at, 'contacts');
      return found.schedule === '15 * * * *' && found;
    });
    expect(state.nextRunTime).toMatch(/:1[5-9]:|:20:/);
    expect(await world.tick(at, 'contacts')).toMatchObject({ status: 'success' });
    expect((await world.stateOf(at, 'deals')).nextRunTime).toBeUndefined();
  }, 60_000);

  it('pauses by itself after too many failures, and tells why', async () => {
    const at = await world.contacts();
    await world.stateOf(at, 'contacts');
    // As a success leaves it that a node of the release before recorded.
    await world.test.database.raw('UPDATE read_feed SET excused = 3 WHERE installation_id = $1', [
      at.installationId,
    ]);
    for (let n = 0; n < 2; n += 1) {
      await fault(world.first.hubspot, {
        path: '/contacts/search',
        times: 1,
        fault: { kind: 'status', status: 400 },
      });
      const run = await world.tick(at, 'contacts');
      expect(run).toMatchObject({ status: 'failure', result: expect.stringMatching(/^\[contacts\] /) });
    }
    expect(await world.stateOf(at, 'contacts')).toMatchObject({
      failures: 2,
      paused: { reason: 'failures' },
    });
    await world.until('the status of the installation', async () => {
      const { body } = await world.first.call<{ lastOperationStatus?: string }>('GET', world.place(at));
      return body.lastOperationStatus === 'failure' && body;
    });
    const events = await world.first.call<{ results: { installationId: string; data: { error: string } }[] }>(
      'GET',
      '/projects/default/events?type=read.schedule.paused',
    );
    const told = events.body.results.find(({ installationId }) => installationId === at.installationId);
    expect(told?.data.error).toMatch(/^\[contacts\] /);
  }, 60_000);

  it('counts no failure of credentials towards a pause', async () => {
    const at = await world.contacts();
    const refused = { path: '/contacts/search', times: 1, fault: { kind: 'status', status: 400 } };
    for (const action of ['expire', 'revoke'])
      await simulator(world.first.hubspot, 'POST', '/tokens', { action });
    expect(await world.tick(at, 'contacts')).toMatchObject({ status: 'failure' });
    await connect(world.first, 'hubspot', at.groupRef);
    await fault(world.first.hubspot, refused);
    expect(await world.tick(at, 'contacts')).toMatchObject({ status: 'failure' });
    const state = await world.stateOf(at, 'contacts');
    expect([state.failures, state.paused]).toEqual([2, undefined]);
    await fault(world.first.hubspot, refused);
    await world.tick(at, 'contacts');
    expect(await world.stateOf(at, 'contacts')).toMatchObject({
      failures: 3,
      paused: { reason: 'failures' },
    });
  }, 60_000);

  it('waits for a destination that is not there, says so once, and loses nothing', async () => {
    const at = await world.customer({
      read: {
        objects: {
          tickets: {
            objectName: 'tickets',
            selectedFieldsAuto: 'all',
            backfill: { defaultPeriod: { fullHistory: true } },
          },
        },
      },
    });
    const id = await world.until(
      'the backfill',
      async () => (await world.stateOf(at, 'tickets')).backfill?.operationId,
    );
    await world.until('the line', async () => {
      const logs = await world.first.call<{ message: { msg: string } }[]>(
        'GET',
        `/projects/default/operations/${id}/logs`,
      );
      return (
        logs.body.filter(({ message }) => message.msg.includes('there is no destination nowhere')).length ===
        1
      );
    });
    await world.first.call('POST', '/projects/default/destinations', {
      name: 'nowhere',
      type: 'webhook',
      metadata: { url: world.receiver.url },
    });
    await world.pass(1);
    const ended = await world.delivered(at, id);
    expect(ended).toMatchObject({ status: 'success' });
    expect(world.receiver.entries({ groupRef: at.groupRef, objectName: 'tickets' }).length).toBe(
      ended.metadata.read.emitted,
    );
  }, 60_000);
});
