import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sleep } from '../../src/kit/retry.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { rawCall } from '../raw-http.ts';
import { startRawPlatform, type RawPlatform } from '../raw-customer.ts';
import { startRawProvider, type RawProvider } from '../raw-message.ts';

/** A fault of the product that a signal sets off: once thrown, once as a rejection that nobody handles. */
const faults = `let n = 0; process.on('SIGUSR2', () => {
  n += 1; const error = new Error('fault of the test ' + n);
  if (process.env.SVC_UNCAUGHT_ERRORS) void Promise.reject(error); else throw error;
});`;

describe('test/journeys/last-resort', () => {
  let test: TestDatabase;
  let provider: RawProvider;
  let raw: RawPlatform;

  beforeAll(async () => {
    [test, provider] = await Promise.all([createTestDatabase(), startRawProvider()]);
    raw = await startRawPlatform(test.url, provider.url, {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(faults)}`,
    });
  });
  afterAll(async () => {
    await raw?.platform.stop();
    await provider?.close();
    await test?.drop();
  });

  it.each([1, 2])(
    'error %i that nobody catches: what is in flight ends, and a new process counts it',
    async (count) => {
      const { platform, ours } = raw;
      const child = platform.process();
      provider.answer((socket) => {
        setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate'), 700);
      });
      const before = provider.seen.length;
      const call = rawCall(platform.proxy, { target: '/late', headers: ours });
      await expect.poll(() => provider.seen.length).toBe(before + 1);
      child.kill('SIGUSR2');
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await call).toMatchObject({ status: 200, body: Buffer.from('late') });
      const metrics = async (): Promise<string> => {
        const answer = await platform.call<string>('GET', '/metrics').catch(() => undefined);
        return answer?.text ?? '';
      };
      await expect
        .poll(metrics, { timeout: 20_000, interval: 100 })
        .toMatch(new RegExp(`^svc_uncaught_errors_total ${count}$`, 'm'));
      await expect
        .poll(async () => (await platform.call('GET', '/readyz').catch(() => undefined))?.status, {
          timeout: 20_000,
          interval: 100,
        })
        .toBe(200);
      expect(child.exitCode).toBeNull();
      expect(platform.said()).toContain('fault of the test 1');
      expect(platform.said().match(/svc is ready/g)).toHaveLength(count + 1);
      provider.reset();
      expect((await rawCall(platform.proxy, { target: '/next', headers: ours })).status).toBe(200);
    },
  );

  it('ends, and is not replaced, where it is told to end while what is in flight ends', async () => {
    const { platform, ours } = raw;
    const child = platform.process();
    const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve([code, signal])));
    const starts = () => platform.said().match(/svc is ready/g)?.length;
    const before = [provider.seen.length, starts()];
    provider.answer((socket) => {
      setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate'), 2_000);
    });
    const call = rawCall(platform.proxy, { target: '/late', headers: ours });
    await expect.poll(() => provider.seen.length).toBe((before[0] ?? 0) + 1);
    child.kill('SIGUSR2');
    await expect.poll(() => platform.said().match(/fault of the test/g)?.length ?? 0).toBeGreaterThan(2);
    child.kill('SIGTERM');
    expect(await call).toMatchObject({ status: 200, body: Buffer.from('late') });
    const stillThere = sleep(15_000).then(() => 'still there');
    expect(await Promise.race([ended, stillThere])).toEqual([0, null]);
    expect(starts()).toBe(before[1]);
  }, 40_000);
});
