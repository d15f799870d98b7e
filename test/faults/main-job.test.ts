import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deploy, effects, install, type Customer } from '../customer.ts';
import { startPlatform, type Platform } from '../platform.ts';

/** Where the process dies: at a named step of the ledger, or after so many milliseconds of writing. */
const moments = [
  'after-accept:4',
  'after-claim:1',
  'after-mark:2',
  'after-send:2',
  'before-record:2',
  'after-record:2',
  5,
  60,
  250,
  700,
] as const;

interface Accepted {
  operationId: string;
  email: string;
}

describe('faults/main-job', () => {
  let platform: Platform;
  let customer: Customer;
  const accepted: Accepted[] = [];
  let deaths = 0;

  beforeAll(async () => {
    platform = await startPlatform({ env: { SVC_LEASE_MS: '1000' } });
    await deploy(platform);
    customer = await install(platform, 'hubspot-crm', 'acme');
    await fetch(`${platform.hubspot}/__sim/quotas`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ burstMax: null }),
    });
  });
  afterAll(() => platform.stop());

  /** Writes until the process is gone. A write answered with 200 counts as accepted. */
  async function writeUntilDeath(round: number): Promise<void> {
    const end = new AbortController();
    const child = platform.process();
    const gone = new Promise<void>((resolve) => {
      const onExit = (): void => {
        end.abort();
        resolve();
      };
      if (child.signalCode === null) child.once('exit', onExit);
      else onExit();
    });
    const callers = Array.from({ length: 4 }, async (_, caller) => {
      for (let n = 0; !end.signal.aborted; n += 1) {
        const email = `r${round}-c${caller}-n${n}@acme.example`;
        const answer = await customer
          .write('contacts', { type: 'create', mode: 'asynchronous', record: { email } })
          .catch(() => undefined);
        if (answer?.status === 200) accepted.push({ operationId: answer.body.operationId, email });
        await wait(5);
      }
    });
    await Promise.all([gone, ...callers]);
    deaths += 1;
  }

  test('kill -9 at ten moments of the main job loses no accepted write, sends none twice, and each start recovers by itself', async () => {
    for (const [round, moment] of moments.entries()) {
      const named = typeof moment === 'string';
      const isUp = await platform.restart('SIGKILL', named ? { SVC_CRASH_AT: moment } : {}).then(
        () => true,
        () => false,
      );
      if (!named) setTimeout(() => platform.process().kill('SIGKILL'), moment);
      // With work waiting the moment may come before the process is ready.
      if (isUp) await writeUntilDeath(round);
      else deaths += 1;
    }
    await platform.restart();
    expect(deaths).toBe(moments.length);
    expect(accepted.length).toBeGreaterThan(20);

    const sent = new Map<string, number>();
    const outcomes = [];
    for (const { operationId, email } of accepted)
      outcomes.push({ email, ...(await customer.settled(operationId, 30_000)) });
    for (const { kind, fields } of await effects(platform.hubspot, 'contacts')) {
      const { email } = fields as { email: string };
      if (kind === 'create') sent.set(email, (sent.get(email) ?? 0) + 1);
    }
    const duplicates = [...sent].filter(([, times]) => times > 1);
    const falseSuccesses = outcomes.filter(({ status, email }) => status === 'success' && !sent.has(email));
    // A create that was cut off is found by its address: no outcome stays unknown.
    const failures = outcomes.filter(({ status }) => status !== 'success');
    expect({ duplicates, falseSuccesses, failures }).toEqual({
      duplicates: [],
      falseSuccesses: [],
      failures: [],
    });
  }, 120_000);
});
