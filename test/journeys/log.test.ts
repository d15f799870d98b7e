import { once } from 'node:events';
import { connect as connectTo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, deploy, fault, install, simulator, type Customer, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { freePort } from '../free-port.ts';
import { startPlatform, type Platform } from '../platform.ts';
import { rawCall } from '../raw-http.ts';

/** The request id in the answer to a message that is not HTTP. */
async function idOfUnreadable(base: string): Promise<string | null> {
  const { hostname, port } = new URL(base);
  const socket = connectTo(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  socket.write('NON SENSE\r\n\r\n');
  await once(socket, 'close');
  return /request-id: (\S+)/i.exec(received)?.[1] ?? null;
}

interface Rated {
  rateBudget?: { closedUntil?: string };
}

/** What an answer names: its request, and the operation, also where it failed. */
function idsOf({ headers, body }: { headers: Headers; body: unknown }): {
  requestId: string;
  operationId: string;
} {
  const { operationId = '' } = body as { operationId?: string };
  return { requestId: headers.get('x-request-id') ?? '', operationId };
}

const limitOf = (seconds: string) => ({
  path: '/contacts',
  times: 1,
  fault: { kind: 'status', status: 429, headers: { 'retry-after': seconds } },
});

describe('test/journeys/log', () => {
  let test: TestDatabase;
  let platform: Platform;
  let acme: Customer;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url, env: { SVC_LOG_LEVEL: 'info' } });
    await deploy(platform);
    acme = await install(platform, 'hubspot-crm', 'acme');
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const lines = (): Record<string, unknown>[] =>
    platform
      .said()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const linesOf = (requestId: string | null) => lines().filter((line) => line['requestId'] === requestId);
  const proxied = (headers: Record<string, string>) =>
    rawCall(platform.proxy, {
      method: 'GET',
      target: '/crm/v3/objects/contacts?after=secret-in-a-query',
      headers: { 'x-svc-proxy-version': '1', 'x-svc-project-id': platform.projectId, ...headers },
    });
  const known = () => ({
    projectId: platform.projectId,
    groupRef: 'acme',
    connectionId: acme.connectionId,
  });
  const warningsOf = (operationId: string) =>
    lines().filter((line) => line['operationId'] === operationId && line['level'] === 40);
  const closures = () => lines().filter((line) => 'forMs' in line);
  const untilOpen = () =>
    expect
      .poll(async () => (await platform.call<Rated>('GET', connectionPath())).body.rateBudget?.closedUntil, {
        timeout: 5_000,
      })
      .toBeUndefined();
  const connectionPath = () => `/projects/${platform.projectId}/connections/${acme.connectionId}`;
  const create = (record: Record<string, unknown>, more: Record<string, unknown> = {}) =>
    acme.write<ProblemBody>('contacts', { type: 'create', record, ...more });

  it('every request id that a caller was given is found, whatever was asked and by whom it was refused', async () => {
    const given: (string | null)[] = [];
    const path = `/write/v1/projects/${platform.projectId}/integrations/hubspot-crm/objects/contacts`;
    for (const answer of [
      await create({ email: 'a@example.com' }),
      await create({ email: 'b@example.com' }, { mode: 'sideways' }),
      await platform.call('POST', path, '{', {}),
      await platform.call('GET', '/projects', undefined, { key: null }),
      await platform.call('GET', '/nowhere'),
      await platform.call('GET', '/projects/%ff'),
      await platform.call('GET', `/projects/${'a'.repeat(600)}`),
      await platform.call('GET', `/projects/${platform.projectId}/operations/none`),
    ])
      given.push(answer.headers.get('x-request-id'));
    given.push(await idOfUnreadable(platform.base), await idOfUnreadable(platform.proxy));
    const expecting = { method: 'GET', target: '/v1/projects', headers: { expect: 'wonders' } };
    given.push((await rawCall(platform.base, expecting)).headers['x-request-id'] ?? null);
    const key = { 'x-api-key': platform.apiKey };
    for (const answer of [
      await proxied({ ...key, 'x-svc-installation-id': acme.installationId }),
      await proxied({ ...key, 'x-svc-installation-id': acme.connectionId }),
      await proxied({}),
      await proxied({ ...key, expect: 'wonders' }),
    ])
      given.push(answer.headers['x-svc-request-id'] ?? null);
    expect(given).not.toContain(null);
    for (const id of given) await expect.poll(() => linesOf(id).length).toBeGreaterThan(0);
    expect(platform.said()).not.toContain(platform.apiKey);
    expect(platform.said()).not.toContain('secret-in-a-query');
  });

  it('the line of a write, and of a proxied call, names the project, the group, the connection and the operation', async () => {
    const written = await create({ email: 'c@example.com' });
    const operationId = (written.body as { operationId?: string }).operationId;
    const writtenBy = written.headers.get('x-request-id');
    await expect
      .poll(() => linesOf(writtenBy))
      .toMatchObject([{ ...known(), status: 200, operationId, installationId: acme.installationId }]);
    const called = await proxied({
      'x-api-key': platform.apiKey,
      'x-svc-installation-id': acme.installationId,
    });
    const calledBy = called.headers['x-svc-request-id'] ?? null;
    await expect.poll(() => linesOf(calledBy)).toMatchObject([{ ...known(), provider: 'hubspot' }]);
  });

  it('the line of a write whose key is in use names the operation that has it', async () => {
    await fault(platform.hubspot, { path: '/contacts', times: 1, fault: { kind: 'delay', ms: 1_500 } });
    const body = { groupRef: 'acme', type: 'create', record: { email: 'in-use@example.com' } };
    const path = `/write/v1/projects/${platform.projectId}/integrations/hubspot-crm/objects/contacts`;
    const options = { headers: { 'idempotency-key': 'in-use' } };
    const first = platform.call<ProblemBody>('POST', path, body, options);
    let refused = await platform.call<ProblemBody>('POST', path, body, options);
    // The second may have come first.
    if (refused.status === 200) refused = await first;
    expect(refused).toMatchObject({ status: 409, body: { operationId: expect.any(String) } });
    await expect
      .poll(() => linesOf(refused.headers.get('x-request-id')))
      .toMatchObject([{ problem: 'idempotency-key-in-flight', operationId: refused.body.operationId }]);
    await first;
  });

  it('an operation that fails, and a window that closes, have a line each that says whose they are', async () => {
    await fault(platform.hubspot, { path: '/contacts', times: 1, fault: { kind: 'status', status: 400 } });
    const failed = await create({ email: 'd@example.com' }, { mode: 'asynchronous' });
    const { operationId, requestId } = idsOf(failed);
    expect((await acme.settled(operationId)).status).toBe('failure');
    await expect
      .poll(() => warningsOf(operationId))
      .toMatchObject([{ ...known(), requestId, provider: 'hubspot', attempts: 1, providerStatus: 400 }]);
    const again = await platform.call(
      'POST',
      `/projects/${platform.projectId}/operations/${operationId}:retry`,
    );
    expect((await acme.settled(idsOf(again).operationId)).status).toBe('success');
    await fault(platform.hubspot, limitOf('1'));
    const closing = idsOf(await create({ email: 'e@example.com' }));
    await expect.poll(closures).toMatchObject([{ ...known(), ...closing }]);
    await untilOpen();
    await fault(platform.hubspot, limitOf('2'));
    const queued = idsOf(await create({ email: 'f@example.com' }, { mode: 'asynchronous' }));
    await expect.poll(closures).toMatchObject([{}, { ...known(), ...queued }]);
    await untilOpen();
    await fault(platform.hubspot, limitOf('1'));
    const called = await proxied({
      'x-api-key': platform.apiKey,
      'x-svc-installation-id': acme.installationId,
    });
    const by = called.headers['x-svc-request-id'];
    await expect.poll(closures).toMatchObject([{}, {}, { ...known(), requestId: by }]);
    await untilOpen();
  });

  it('a batch that gathered, and the connection that its failure ends, have a line each', async () => {
    const gather = async (n: number) =>
      idsOf(
        await create(
          { email: `g${n}@example.com` },
          { mode: 'asynchronous', autoBatchPolicy: { maxDelayMinutes: 1 } },
        ),
      );
    const gathered = await Promise.all(Array.from({ length: 99 }, (_, n) => gather(n)));
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'revoke' });
    await simulator(platform.hubspot, 'POST', '/tokens', { action: 'expire' });
    const last = await gather(99);
    const { operationId } = last;
    expect(new Set(gathered.map((one) => one.operationId))).toEqual(new Set([operationId]));
    expect((await acme.settled(operationId)).status).toBe('failure');
    await expect.poll(() => warningsOf(operationId)).toMatchObject([{ ...known(), category: 'auth' }]);
    const [line] = warningsOf(operationId);
    const told = line?.['requestIds'] as string[];
    expect(told).toHaveLength(10);
    expect([last, ...gathered].map(({ requestId }) => requestId)).toEqual(expect.arrayContaining(told));
    expect(lines().filter(({ msg }) => msg === 'a connection stopped working')).toMatchObject([
      { ...known(), provider: 'hubspot' },
    ]);
    await connect(platform, 'hubspot', 'acme');
  });

  it('a batch of which records failed says so, and a destination that begins to fail has one line', async () => {
    const project = `/projects/${platform.projectId}`;
    const made = await platform.call<{ id: string }>('POST', `${project}/destinations`, {
      name: 'away',
      type: 'webhook',
      metadata: { url: `http://127.0.0.1:${await freePort()}/hooks` },
    });
    expect(made.status).toBe(201);
    const routes = [{ eventTypes: ['write.async.done'], destination: 'away' }];
    expect((await platform.call('PUT', `${project}/notifications`, { routes })).status).toBe(200);
    const batch = ['partly@example.com', 'd@example.com'].map((email) => ({ record: { email } }));
    const { body } = await acme.write('contacts', { type: 'create', mode: 'asynchronous', batch });
    expect((await acme.settled(body.operationId)).status).toBe('success');
    await expect
      .poll(() => warningsOf(body.operationId))
      .toMatchObject([{ ...known(), msg: 'records of an operation failed, and others were written' }]);
    await expect
      .poll(() => lines().filter(({ destinationId }) => destinationId === made.body.id))
      .toMatchObject([
        { projectId: platform.projectId, destination: 'away', msg: 'a delivery failed; it is tried again' },
      ]);
  });

  it('with SVC_LOG_REQUESTS=problems only those have a line; SVC_LOG_FORMAT=text is for readers', async () => {
    await platform.restart('SIGTERM', { SVC_LOG_REQUESTS: 'problems', SVC_LOG_FORMAT: 'text' });
    const fine = await create({ email: 'h@example.com' });
    const refused = await platform.call<ProblemBody>('GET', '/nowhere');
    await expect.poll(() => platform.said()).toContain(`requestId=${refused.body.requestId}`);
    expect(platform.said()).not.toContain(fine.headers.get('x-request-id'));
  });
});
