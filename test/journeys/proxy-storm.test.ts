import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { certificate } from '../certificate.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startRawPlatform, type RawPlatform } from '../raw-customer.ts';
import { rawCall } from '../raw-http.ts';
import { callBy, shapeOf, withoutInterim } from '../storm/caller.ts';
import { planOf, startStormProviders, type StormProviders } from '../storm/provider.ts';

// PROXY_STORM_CALLS=30000 for the long one; a failing call is repeated by its seed alone.
const calls = Number(process.env['PROXY_STORM_CALLS'] ?? 2_000);
const firstSeed = Number(process.env['PROXY_STORM_SEED'] ?? 1);
const lanes = 48;
const limitMs = 60_000 + calls * 60;

describe('test/journeys/proxy-storm', () => {
  let test: TestDatabase;
  let providers: StormProviders;
  let raw: RawPlatform;

  beforeAll(async () => {
    [test, providers] = await Promise.all([createTestDatabase(), startStormProviders(firstSeed)]);
    const { plain, secure, tarpit } = providers;
    raw = await startRawPlatform(
      test.url,
      plain,
      {
        SVC_EXTRA_CA: certificate.cert,
        SVC_CONNECT_MS: '500',
        SVC_PROVIDER_CALL_MS: '1000',
        SVC_PROXY_CALL_MS: '3000',
      },
      { smartlead: plain, stripe: secure, sentry: tarpit },
    );
  });
  afterAll(async () => {
    await raw?.platform.stop();
    await providers?.close();
    await test?.drop();
  });

  /** Calls that neither side disturbed, and those of them whose answer was the provider's. */
  let undisturbed = 0;
  let passed = 0;
  const others: string[] = [];
  /** A machine that stands still makes callers give up, too. */
  const ownDelay = monitorEventLoopDelay();

  /** One call by its seed; what is wrong with its end, if anything. */
  async function faultOf(seed: number): Promise<string | undefined> {
    const weighted = ['iterable', 'iterable', 'iterable', 'stripe', 'stripe', 'smartlead', 'sentry'];
    const shape = shapeOf(seed, weighted, (provider) =>
      Object.entries(raw.oursOf(provider))
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join(''),
    );
    const { text, hung } = await callBy(shape, Number(new URL(raw.platform.proxy).port), seed, 15_000);
    const answer = withoutInterim(text);
    if (answer !== '' && !/^HTTP\/1\.1 \d{3} [^\r]*\r\n/.test(answer))
      return `no answer of HTTP: ${answer.slice(0, 80)}`;
    if (/^x-svc-problem: internal/im.test(answer)) return `a fault of ours: ${answer.slice(0, 600)}`;
    if (!shape.isQuiet) return undefined;
    if (hung) {
      const stoodStill = `this process stood still for ${Math.round(ownDelay.max / 1e6)} ms at the most`;
      return `no end (${stoodStill}): ${answer.slice(0, 80)}`;
    }
    const { kind, status } = planOf(seed);
    if (kind !== 'answer' || shape.of === 'sentry') return undefined;
    if (answer === '') return 'no answer';
    undisturbed += 1;
    if (answer.startsWith(`HTTP/1.1 ${status} Said\r\n`)) passed += 1;
    else others.push(answer.slice(0, 12));
    return undefined;
  }

  it(
    `${calls} calls of random shape, whose callers and providers break off anywhere, end none but themselves`,
    async () => {
      const faults: string[] = [];
      ownDelay.enable();
      let next = firstSeed;
      const lane = async (): Promise<void> => {
        while (next < firstSeed + calls && faults.length < 10) {
          const seed = next++;
          const fault = await faultOf(seed);
          if (fault) faults.push(`${seed}: ${fault}`);
        }
      };
      await Promise.all(Array.from({ length: lanes }, lane));
      const { platform } = raw;
      expect({ faults, exitCode: platform.process().exitCode }).toEqual({ faults: [], exitCode: null });
      // A connection in thirty ends while it begins; more are new, and more answers come before their request was sent, when
      // the machine is busy.
      expect({ others, share: passed / undisturbed > 0.9 }).toEqual({ others, share: true });
      const alarms = /caught|unhandled|as it must not|warning|"problem":"internal"/i;
      expect(
        platform
          .said()
          .split('\n')
          .filter((line) => alarms.test(line)),
      ).toEqual([]);
      const metrics = await platform.call<string>('GET', '/metrics');
      expect(metrics.text).toMatch(/^svc_uncaught_errors_total 0$/m);
      // Nothing is left behind, and whoever comes now is served.
      await expect.poll(() => providers.open(), { timeout: 20_000, interval: 100 }).toBe(0);
      const good = Array.from({ length: 1_000 }, (_, seed) => seed).filter((seed) => {
        const { kind, status } = planOf(seed);
        return kind === 'answer' && status === 200;
      });
      for (const provider of ['iterable', 'stripe', 'smartlead']) {
        const told = [];
        for (const seed of good.slice(0, 10)) {
          const { status } = await rawCall(platform.proxy, {
            target: `/storm?s=${seed}`,
            headers: raw.oursOf(provider),
          });
          told.push(status);
        }
        // A connection in thirty ends while it begins.
        expect(told.filter((status) => status === 200).length).toBeGreaterThanOrEqual(7);
      }
    },
    limitMs,
  );
});
