import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../kit/log.ts';
import { createMetrics } from '../../kit/metrics.ts';
import { problem } from '../../kit/problem.ts';
import type { Principal } from '../auth/principal.ts';
import { openHarness, type Harness } from '../harness.fixture.ts';
import { createRateLimit } from './rate-limit.ts';

const caller = (keyId: string, kind: Principal['kind'] = 'apiKey'): Principal => ({
  kind,
  keyId,
  projectId: '01990000-0000-7000-8000-000000000001',
  projectName: 'default',
  scopes: ['full'],
});

/** Asks again and again for a time; answers how many were admitted. */
async function pressFor(
  ms: number,
  nodes: Pick<Harness['projects'], 'admit'>[],
  who: Principal,
): Promise<number> {
  const endsAt = performance.now() + ms;
  let admitted = 0;
  const press = async (node: Pick<Harness['projects'], 'admit'>): Promise<void> => {
    while (performance.now() < endsAt) {
      try {
        const pending = node.admit(who, 'proxy');
        if (pending) await pending;
        admitted += 1;
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
  };
  await Promise.all(nodes.flatMap((node) => [press(node), press(node), press(node)]));
  return admitted;
}

describe('src/projects/rate-limit', () => {
  let harness: Harness;
  const perSecond = 40;
  beforeAll(async () => {
    harness = await openHarness({ requestsPerSecond: perSecond });
  });
  afterAll(() => harness?.close());

  it('gives a key its rate over two nodes, and no more, for a statement in a while', async () => {
    const before = harness.calls('rate_limit_spend');
    const admitted = await pressFor(3_000, [harness.projects, harness.createNode()], caller('both'));
    // Of some ten thousand requests. A second’s worth comes at once, then what each second earns; what a node holds at the end is not used.
    expect(admitted).toBeLessThanOrEqual(4 * perSecond + 1);
    expect(admitted).toBeGreaterThanOrEqual(3.3 * perSecond);
    expect(harness.calls('rate_limit_spend') - before).toBeLessThan(150);
  });

  it('lets as many through at once as a second holds, with one statement', async () => {
    const before = harness.calls('rate_limit_spend');
    const burst = Array.from({ length: perSecond + 10 }, async () =>
      harness.projects.admit(caller('burst'), 'proxy'),
    );
    const ends = await Promise.allSettled(burst);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(perSecond);
    expect(harness.calls('rate_limit_spend') - before).toBe(1);
  });

  it('counts each key by itself, and the tokens of a group together', async () => {
    await pressFor(200, [harness.projects], caller('spent'));
    await harness.projects.admit(caller('fresh'), 'management');
    const tokens = Array.from({ length: 2 * perSecond }, async (_, at) =>
      harness.projects.admit({ ...caller(`signer-${at % 2}`, 'jwt'), groupRef: 'acme' }, 'management'),
    );
    const other = { ...caller('signer-0', 'jwt'), groupRef: 'globex' };
    await harness.projects.admit(other, 'management');
    const ends = await Promise.allSettled(tokens);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(perSecond);
  });

  it('answers 429 with the time to wait, refuses from memory until then, and serves again after it', async () => {
    const { body } = await harness.call('POST', '/projects/default/api-keys', {
      label: 'k',
      scopes: ['read'],
    });
    const ask = () => harness.call('GET', '/probe/read', undefined, { key: body.key });
    const answers = await Promise.all(Array.from({ length: perSecond * 2 }, ask));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(perSecond / 2);
    expect(refused[0]).toMatchObject({
      headers: { 'retry-after': '1' },
      body: { code: 'rate-limited', retryable: true, retryAfter: expect.any(String) },
    });
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    expect((await ask()).status).toBe(200);
  });

  it.each([
    ['is away', () => Promise.reject(problem('database-unavailable'))],
    ['is silent', () => new Promise<never>(() => undefined)],
  ])('each node counts by itself while the database %s', async (_name, rows) => {
    const limit = createRateLimit(
      { database: { ...harness.database, rows }, log: createLog('silent'), metrics: createMetrics() },
      perSecond,
    );
    const admitted = await pressFor(2_500, [limit], caller('alone'));
    expect(admitted).toBeGreaterThanOrEqual(perSecond);
    expect(admitted).toBeLessThanOrEqual(3 * perSecond);
  });
});
