import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

interface Key {
  id: string;
  key: string;
}

describe('test/journeys/stream-withdrawn', () => {
  let test: TestDatabase;
  let platform: Platform;
  beforeAll(async () => {
    test = await createTestDatabase();
    const env = { SVC_AUTH_FAILURES_PER_MINUTE: '1', SVC_RATE_LIMIT_PER_KEY: '4' };
    platform = await startPlatform({ databaseUrl: test.url, env });
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  /** Follows with a key whose right is withdrawn, and which is sent again and again until the stream ends. */
  async function follow({ key }: Key, withdraw: () => Promise<void>) {
    const headers = { 'x-api-key': key };
    const stream = await fetch(`${platform.base}/v1/projects/default/stream`, {
      headers,
      signal: AbortSignal.timeout(25_000),
    });
    expect(stream.status).toBe(200);
    await withdraw();
    const statuses: number[] = [];
    const timer = setInterval(() => {
      void platform.call('GET', '/projects', undefined, { key }).then(
        ({ status }) => statuses.push(status),
        () => undefined,
      );
    }, 8);
    const isOver = await stream.text().then(
      () => true,
      () => false,
    );
    clearInterval(timer);
    return { isOver, wasLimited: statuses.includes(429) };
  }
  const make = async (): Promise<Key> =>
    (await platform.call<Key>('POST', '/projects/default/api-keys', { label: 'follower', scopes: ['read'] }))
      .body;

  it(
    'ends with a key whose holder sends more wrong keys than are looked at',
    { timeout: 40_000 },
    async () => {
      const made = await make();
      const ended = await follow(made, async () => {
        const { status } = await platform.call('DELETE', `/projects/default/api-keys/${made.id}`);
        expect(status).toBe(204);
      });
      expect(ended).toEqual({ isOver: true, wasLimited: true });
    },
  );

  it('ends with the scope of a key that makes more requests than it may', { timeout: 40_000 }, async () => {
    const made = await make();
    const ended = await follow(made, async () => {
      const change = { updateMask: ['scopes'], apiKey: { scopes: ['write'] } };
      const { status } = await platform.call('PATCH', `/projects/default/api-keys/${made.id}`, change);
      expect(status).toBe(200);
    });
    expect(ended).toEqual({ isOver: true, wasLimited: true });
  });
});
