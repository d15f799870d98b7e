import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChild, untilReady, type Child } from '../../scripts/child.ts';
import { openDatabase } from '../../src/kit/db/database.ts';
import { freePort } from '../free-port.ts';
import { createPostgres, findPostgres, follow, promote, type PostgresServer } from '../postgres-server.ts';
import { envOf, operate } from './operator.ts';

const bin = findPostgres();

const statusOf = (url: string): Promise<number> =>
  fetch(url).then(
    ({ status }) => status,
    () => 0,
  );

interface Node {
  base: string;
  proxy: string;
  child: Child;
}

describe.skipIf(!bin)('test/restore/recovery (skipped where there is no pg_basebackup)', () => {
  let server: PostgresServer;
  const made: { replicas: PostgresServer[]; nodes: Node[] } = { replicas: [], nodes: [] };

  const start = async (url: string, env: Record<string, string> = {}): Promise<Node> => {
    const [port, proxyPort] = [await freePort(), await freePort()];
    const ports = { SVC_PORT: String(port), SVC_PROXY_PORT: String(proxyPort) };
    const child = startChild(['src/main.ts'], { env: { ...envOf(url), ...ports, ...env } });
    const node = { base: `http://127.0.0.1:${port}`, proxy: `http://127.0.0.1:${proxyPort}`, child };
    made.nodes.push(node);
    return node;
  };
  const says = (node: Node, what: string) =>
    expect.poll(() => node.child.said(), { timeout: 30_000 }).toContain(what);
  const replica = async (): Promise<PostgresServer> => {
    const one = await follow(bin ?? '', server);
    made.replicas.push(one);
    return one;
  };

  beforeAll(async () => {
    server = await createPostgres(bin ?? '');
    const node = await start(server.url);
    await untilReady(node.base, node.child);
    await node.child.end('SIGTERM');
  }, 60_000);
  afterAll(async () => {
    await Promise.all(made.nodes.map(({ child }) => child.end('SIGKILL')));
    for (const one of [...made.replicas, server]) await one?.remove();
  });

  it('a node that starts while the server is in recovery waits and says why, and is held once the server was promoted', async () => {
    const restored = await replica();
    const node = await start(restored.url, { SVC_FAILOVER_MS: '0' });
    await says(node, 'in recovery');
    await expect.poll(() => statusOf(`${node.base}/healthz`)).toBe(200);
    for (const [url, ofProxy] of [
      [`${node.base}/readyz`, null],
      [`${node.base}/v1/projects`, null],
      [`${node.proxy}/crm/v3/objects`, 'database-unavailable'],
    ] as const) {
      const answer = await fetch(url);
      expect([answer.status, answer.headers.get('x-svc-problem'), await answer.json()]).toEqual([
        503,
        ofProxy,
        expect.objectContaining({
          code: 'database-unavailable',
          detail: expect.stringContaining('in recovery') as string,
        }),
      ]);
    }
    const early = await operate(restored.url, 'restore', 'resume');
    expect(early).toEqual({ code: 1, said: expect.stringContaining('in recovery') as string });
    const looked = await operate(restored.url, 'doctor');
    expect(looked.said).toContain('it is a replica and takes no changes');
    expect(looked.said).toContain('whether the database was restored is not known yet');
    await promote(restored);
    await says(node, 'The database is held: it was recovered');
    expect(await (await fetch(`${node.base}/readyz`)).json()).toMatchObject({ code: 'restored' });
    expect(node.child.said()).not.toContain('svc is ready');
    expect((await operate(restored.url, 'restore', 'resume')).code).toBe(0);
    await says(node, 'svc is ready');
    expect((await operate(restored.url, 'doctor')).said).not.toContain('FAULT');
  }, 90_000);

  it('goes on by itself where a replica was promoted in good time', async () => {
    const next = await replica();
    const node = await start(next.url, { SVC_FAILOVER_MS: '600000' });
    await says(node, 'in recovery');
    const before = Date.now();
    await promote(next);
    await says(node, 'svc is ready');
    expect(node.child.said()).toContain('a replica was promoted');
    // Greater numbers than those of messages that the replica had not received.
    const database = openDatabase({ url: next.url, poolSize: 1, applicationName: 'svc test' });
    const [row] = await database.raw('SELECT last_value::float8 AS latest FROM message_seq');
    expect(row?.['latest']).toBeGreaterThan(before * 1_000);
    await database.close();
  }, 90_000);
});
