import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findNginx, startNginx } from '../../bench/nginx.ts';
import { deploy, effects, install, type Customer } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

const rounds = Number(process.env['RESTART_ROUNDS'] ?? 2);
/** How many callers of each kind, and the pause between their requests. Those that reach the provider stay below its limit. */
const callers = { written: [2, 500], proxied: [2, 500], tried: [12, 5] } as const;
const nginx = findNginx();

// The requests go through nginx.
describe.skipIf(nginx === undefined)('test/journeys/rolling-restart', () => {
  let test: TestDatabase;
  const nodes: Platform[] = [];
  const fronts: { port: number; close(): Promise<void> }[] = [];
  let customer: Customer;
  let count = 0;
  const agent = new Agent({ connections: 16 });

  beforeAll(async () => {
    test = await createTestDatabase();
    const env = { SVC_DRAIN_MS: '1000' };
    const first = await startPlatform({ databaseUrl: test.url, env });
    nodes.push(first, await startPlatform({ databaseUrl: test.url, env, beside: first }));
    await deploy(first);
    customer = await install(first, 'hubspot-crm', 'acme');
    const portsOf = (of: (node: Platform) => string) => nodes.map((node) => Number(new URL(of(node)).port));
    fronts.push(
      await startNginx(nginx ?? '', ...portsOf(({ base }) => base)),
      await startNginx(nginx ?? '', ...portsOf(({ proxy }) => proxy)),
    );
  }, 120_000);
  afterAll(async () => {
    await agent.close();
    for (const front of fronts) await front.close();
    for (const node of nodes.reverse()) await node.stop();
    await test?.drop();
  });

  const keyOf = () => ({ 'x-api-key': nodes[0]?.apiKey ?? '' });
  /** A POST, which nginx does not send again once it has begun. */
  async function post(kind: string, record: { email: string }, options: { dryRun?: true }): Promise<string> {
    const answer = await request(
      `http://127.0.0.1:${fronts[0]?.port}/write/v1/projects/default/integrations/hubspot-crm/objects/contacts`,
      {
        method: 'POST',
        dispatcher: agent,
        headers: { ...keyOf(), 'content-type': 'application/json' },
        body: JSON.stringify({ groupRef: 'acme', type: 'create', record, ...options }),
      },
    );
    const text = await answer.body.text();
    return answer.statusCode === 200 ? '' : `${kind} ${answer.statusCode} ${text.slice(0, 300)}`;
  }
  const written = (): Promise<string> => post('written', { email: `r${++count}@example.com` }, {});
  const tried = (): Promise<string> => post('tried', { email: 'tried@example.com' }, { dryRun: true });
  async function proxied(): Promise<string> {
    const answer = await request(`http://127.0.0.1:${fronts[1]?.port}/crm/v3/objects/contacts?limit=1`, {
      dispatcher: agent,
      headers: {
        ...keyOf(),
        'x-svc-proxy-version': '1',
        'x-svc-project-id': nodes[0]?.projectId ?? '',
        'x-svc-installation-id': customer.installationId,
      },
    });
    const text = await answer.body.text();
    return answer.statusCode === 200 ? '' : `proxied ${answer.statusCode} ${text.slice(0, 300)}`;
  }

  it(
    `loses no request while the nodes behind nginx are restarted one after the other, ${rounds} times`,
    async () => {
      const lost: string[] = [];
      let answered = 0;
      const over = new AbortController();
      const calls = { written, proxied, tried };
      const calling = Object.entries(callers).flatMap(([kind, [howMany, pauseMs]]) =>
        Array.from({ length: howMany }, async () => {
          while (!over.signal.aborted) {
            const failed = await calls[kind as keyof typeof calls]().catch((error: unknown) => String(error));
            answered += 1;
            if (failed !== '') lost.push(failed);
            await new Promise((resolve) => setTimeout(resolve, pauseMs));
          }
        }),
      );
      for (let round = 0; round < rounds; round += 1) for (const node of nodes) await node.restart('SIGTERM');
      over.abort();
      await Promise.all(calling);
      expect(lost).toEqual([]);
      expect(answered).toBeGreaterThan(rounds * 200);
      const made = (await effects(nodes[0]?.hubspot ?? '', 'contacts')).filter(
        ({ kind }) => kind === 'create',
      );
      expect(made).toHaveLength(count);
    },
    60_000 + rounds * 60_000,
  );
});
