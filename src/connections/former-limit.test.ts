import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness, type Harness } from './harness.fixture.ts';
import type { Connections } from './index.ts';

describe('connections/former-limit', () => {
  let server: Server;
  let harness: Harness;
  let there: Connections;
  const seen: string[] = [];
  const base = '/v1/projects/default/connections';

  beforeAll(async () => {
    // For the former key nothing is done until tomorrow.
    server = createServer(({ headers }, response) => {
      const key = String(headers['api-key']);
      seen.push(key);
      const [status, wait] = key === 'former' ? [429, { 'retry-after': '86400' }] : [200, {}];
      response.writeHead(status, { 'content-type': 'application/json', ...wait }).end('{}');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    harness = await createHarness({
      iterable: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    });
    there = harness.secondNode();
    await Promise.all([harness.connections.budget.ready(), there.budget.ready()]);
  });
  afterAll(async () => {
    await harness.close();
    server.closeAllConnections();
    server.close();
  });

  it('a node that still has the former credentials in memory closes nothing for the new ones', async () => {
    const owner = { provider: 'iterable', groupRef: 'acme', consumerRef: 'ada' };
    const { json } = await harness.call('POST', `${base}:generate`, { ...owner, apiKey: 'former' });
    const { projectId } = harness;
    const get = async (node: Connections) => {
      const client = await node.client(projectId, json.id);
      return client.send({ method: 'GET', path: '/things' });
    };
    await there.credential(projectId, json.id);
    const key = { updateMask: ['apiKey'], connection: { apiKey: 'new' } };
    expect(await harness.call('PATCH', `${base}/${json.id}`, key)).toMatchObject({ status: 200 });
    // As a send does that finds no closed window.
    await there.budget.look();
    expect(await get(there)).toMatchObject({ answer: { status: 429 } });
    expect(seen.at(-1)).toBe('former');
    for (let n = 0; n < 15; n += 1) {
      for (const { budget } of [harness.connections, there])
        expect(await budget.surelyWaitMs(projectId, json.id, 'write')).toBe(0);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await expect.poll(() => get(there)).toMatchObject({ answer: { status: 200 } });
  });
});
