import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  deploy,
  effects,
  fault,
  install,
  requestsOf,
  simulator,
  type Customer,
  type ProblemBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { freePort } from '../free-port.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { rawCall } from '../raw-http.ts';

/** In a process: it is told to end when it is about to listen, and listens a while later. */
const toldBeforeListening = `import { Server } from 'node:net';
const { listen } = Server.prototype;
let isTold = false;
Server.prototype.listen = function (...given) {
  setTimeout(() => listen.apply(this, given), 500);
  if (!isTold) setTimeout(() => process.kill(process.pid, 'SIGTERM'), 250);
  isTold = true;
  return this;
};`;

describe('test/journeys/shutdown', () => {
  let test: TestDatabase;
  let platform: Platform;
  let customer: Customer;
  let count = 0;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url, env: { SVC_LEASE_MS: '3000' } });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'acme');
  });
  afterEach(async () => {
    await simulator(platform.hubspot, 'DELETE', '/faults');
    const child = platform.process();
    if (child.exitCode !== null || child.signalCode !== null) await platform.restart();
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const email = (): string => `s${++count}@example.com`;
  const create = (address: string, more: Record<string, unknown> = {}) =>
    customer.write('contacts', { type: 'create', record: { email: address }, ...more });
  const rawWrite = (address: string) =>
    rawCall(platform.base, {
      method: 'POST',
      target: '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts',
      headers: {
        'x-api-key': platform.apiKey,
        'content-type': 'application/json',
        connection: 'keep-alive',
      },
      body: JSON.stringify({ groupRef: 'acme', type: 'create', record: { email: address } }),
    });
  const slow = (ms: number, times = 1) =>
    fault(platform.hubspot, { path: '/contacts', times, fault: { kind: 'delay', ms } });
  /** Until the provider has been asked `count` times for something of these addresses. */
  const asked = (addresses: string[]) =>
    expect
      .poll(
        async () =>
          (await requestsOf(platform.hubspot)).filter(({ body }) =>
            addresses.some((one) => body.includes(one)),
          ).length,
        { timeout: 10_000 },
      )
      .toBe(addresses.length);
  const madeOf = async (address: string) =>
    (await effects(platform.hubspot, 'contacts')).filter(
      ({ kind, fields }) => kind === 'create' && fields['email'] === address,
    );
  /** Of a node that does not listen yet. */
  const firstAnswer = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  };
  const exit = async (): Promise<{ code: number | null; ms: number }> => {
    const startedAt = Date.now();
    const [code] = (await once(platform.process(), 'exit')) as [number | null];
    return { code, ms: Date.now() - startedAt };
  };

  it('SIGTERM: what is in flight is finished, readiness is off, and the process ends with 0 in time', async () => {
    const [sync, queued, proxied] = [email(), email(), email()];
    await slow(1_500, 3);
    const writing = create(sync);
    const taken = await create(queued, { mode: 'asynchronous' });
    const proxying = rawCall(platform.proxy, {
      method: 'POST',
      target: '/crm/v3/objects/contacts',
      headers: {
        'x-svc-proxy-version': '1',
        'x-svc-project-id': platform.projectId,
        'x-api-key': platform.apiKey,
        'x-svc-installation-id': customer.installationId,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ properties: { email: proxied } }),
    });
    await asked([sync, queued, proxied]);
    const ended = exit();
    platform.process().kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 200));
    // It is reached and says so: what is in flight keeps the process.
    const ready = await platform.call<ProblemBody>('GET', '/readyz');
    expect(ready.status).toBe(503);
    expect(await writing).toMatchObject({ status: 200, body: { result: { success: true } } });
    expect((await proxying).status).toBe(201);
    const { code, ms } = await ended;
    expect(code).toBe(0);
    expect(ms).toBeLessThan(30_000);
    for (const address of [sync, queued, proxied]) expect(await madeOf(address)).toHaveLength(1);
    await platform.restart();
    expect(await customer.settled(taken.body.operationId)).toMatchObject({
      status: 'success',
      metadata: { retry: { attempts: 1 } },
    });
  });

  it('SIGTERM: it is not ready, serves on for SVC_DRAIN_MS, and then every answer closes its connection', async () => {
    await platform.restart('SIGTERM', { SVC_DRAIN_MS: '1000' });
    const address = email();
    await slow(2_000);
    const inFlight = rawWrite(address);
    await asked([address]);
    const ended = exit();
    platform.process().kill('SIGTERM');
    await expect
      .poll(() => fetch(`${platform.base}/readyz`).then(({ status }) => status), { interval: 20 })
      .toBe(503);
    const late = await rawWrite(email());
    const proxied = await rawCall(platform.proxy, {
      method: 'GET',
      target: '/crm/v3/objects/contacts',
      headers: {
        'x-svc-proxy-version': '1',
        'x-svc-project-id': platform.projectId,
        'x-api-key': platform.apiKey,
        connection: 'keep-alive',
        'x-svc-installation-id': customer.installationId,
      },
    });
    for (const { status, headers } of [late, proxied]) {
      expect(status).toBe(200);
      // Told to close, the caller would connect here again, and the process could end before it accepts that connection.
      expect(headers['connection']).toBe('keep-alive');
    }
    const { status, headers } = await inFlight;
    expect(status).toBe(200);
    expect(headers['connection']).toBe('close');
    const { code, ms } = await ended;
    expect(code).toBe(0);
    expect(ms).toBeGreaterThan(900);
    await platform.restart();
    const kept = await rawWrite(email());
    expect(kept.headers['connection']).toBe('keep-alive');
  });

  it('SIGTERM: a stop that lost nothing logs no warning', async () => {
    for (let round = 0; round < 5; round += 1) {
      expect((await create(email())).status).toBe(200);
      const before = platform.said().length;
      const ended = exit();
      platform.process().kill('SIGTERM');
      expect((await ended).code).toBe(0);
      const said = platform.said().slice(before);
      await platform.restart();
      expect(said).not.toContain('was lost');
      expect(said).not.toContain('"level":40');
    }
  }, 60_000);

  it('SIGTERM: connections without a request do not delay the stop', async () => {
    const healthPort = await freePort();
    await platform.restart('SIGTERM', { SVC_HEALTH_PORT: String(healthPort) });
    const ports = [platform.base, platform.proxy].map((url) => Number(new URL(url).port));
    const unused = ports.concat(healthPort).map((port) => connect({ host: '127.0.0.1', port }));
    await Promise.all(unused.map((socket) => once(socket, 'connect')));
    const closed = Promise.all(unused.map((socket) => once(socket.resume(), 'close')));
    const ended = exit();
    platform.process().kill('SIGTERM');
    // SVC_SHUTDOWN_MS is 30 s.
    expect(await ended).toMatchObject({ code: 0 });
    expect((await ended).ms).toBeLessThan(15_000);
    await closed;
  }, 60_000);

  it('SIGTERM while the listeners are started: what they take is finished, and the node does not say that it is ready', async () => {
    const [queued, sync] = [email(), email()];
    await slow(6_000, 2);
    const taken = await create(queued, { mode: 'asynchronous' });
    await asked([queued]);
    platform.process().kill('SIGKILL');
    // The lane is free again, and its work is begun before the node listens.
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    const before = platform.said().length;
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(toldBeforeListening)}`;
    const ended = platform.restart('SIGKILL', { NODE_OPTIONS, SVC_DRAIN_MS: '1500' }).then(
      () => 'ready',
      ({ message }: Error) => message,
    );
    const writing = firstAnswer(() => rawWrite(sync));
    await asked([sync]);
    // SVC_DRAIN_MS is over, and the write is not.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await expect(rawWrite(email())).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect((await writing).status).toBe(200);
    expect(await ended).toContain('the process ended with 0');
    expect(platform.said().slice(before).includes('svc is ready')).toBe(false);
    await platform.restart();
    // While it is in progress, its call would take the delay of the next test.
    expect(await customer.settled(taken.body.operationId)).toMatchObject({ status: 'success' });
  }, 90_000);

  it('a second signal ends the process at once', async () => {
    const address = email();
    await slow(10_000);
    const writing = create(address).catch(() => undefined);
    await asked([address]);
    const ended = exit();
    platform.process().kill('SIGTERM');
    // A second one within a second counts as the same signal.
    platform.process().kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(platform.process().exitCode).toBeNull();
    platform.process().kill('SIGTERM');
    const { code, ms } = await ended;
    expect(code).toBe(1);
    expect(ms).toBeLessThan(4_000);
    expect(await writing).toBeUndefined();
  });

  it('queued work survives a restart, each write done once', async () => {
    const addresses = Array.from({ length: 20 }, email);
    await slow(300, 20);
    const taken = await Promise.all(addresses.map((address) => create(address, { mode: 'asynchronous' })));
    expect(taken.map(({ status }) => status)).toEqual(addresses.map(() => 200));
    const ended = exit();
    platform.process().kill('SIGTERM');
    expect((await ended).code).toBe(0);
    await platform.restart();
    for (const { body } of taken)
      expect(await customer.settled(body.operationId)).toMatchObject({ status: 'success' });
    for (const address of addresses) expect(await madeOf(address)).toHaveLength(1);
  });

  it('after a kill -9 what was accepted is done, and what was sent is not sent again', async () => {
    const addresses = Array.from({ length: 6 }, email);
    await slow(1_000, 6);
    const taken = await Promise.all(addresses.map((address) => create(address, { mode: 'asynchronous' })));
    await asked(addresses);
    await platform.restart('SIGKILL');
    for (const { body } of taken)
      expect(await customer.settled(body.operationId, 25_000)).toMatchObject({ status: 'success' });
    for (const address of addresses) expect(await madeOf(address)).toHaveLength(1);
    expect((await create(email())).status).toBe(200);
  });

  it('SIGINT is a signal to stop like SIGTERM', async () => {
    const ended = exit();
    platform.process().kill('SIGINT');
    expect((await ended).code).toBe(0);
  });
});
