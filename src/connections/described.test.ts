import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness, type Harness } from './harness.fixture.ts';

describe('connections/described', () => {
  let server: Server;
  let harness: Harness;
  const base = '/v1/projects/default/connections';

  beforeAll(async () => {
    server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    harness = await createHarness({
      freshdesk: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    });
  });
  afterAll(async () => {
    await harness.close();
    server.closeAllConnections();
    server.close();
  });

  const areWaiting = () =>
    harness.ground.database.raw(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );

  it('an address that was in place is not put back over that of credentials that came meanwhile', async () => {
    const { json } = await harness.call('POST', `${base}:generate`, {
      provider: 'freshdesk',
      groupRef: 'acme',
      consumerRef: 'ada',
      providerWorkspaceRef: 'a',
      basicAuth: { username: 'u', password: 'p' },
    });
    const change = { updateMask: ['providerWorkspaceRef'], connection: { providerWorkspaceRef: 'a' } };
    const path = `${base}/${json.id}`;
    const patched = await harness.ground.database.transaction(async (tx) => {
      // As new credentials for another address do.
      const text = `UPDATE connection SET workspace_ref = 'b', generation = generation + 1 WHERE id = $1`;
      await tx.rows({ name: 'test_replace', text }, [json.id]);
      const answer = harness.call('PATCH', path, change);
      await expect.poll(areWaiting, { timeout: 5_000 }).toHaveLength(1);
      return { answer };
    });
    expect(await patched.answer).toMatchObject({ status: 400 });
    expect((await harness.call('GET', path)).json.providerWorkspaceRef).toBe('b');
    const still = { ...change, connection: { providerWorkspaceRef: 'b' } };
    expect(await harness.call('PATCH', path, still)).toMatchObject({ status: 200 });
  });
});
