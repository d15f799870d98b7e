import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Agent } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendHttp } from './client.ts';
import { createHandOver, handOver, turnBytes } from './hand-over.ts';

function hold(ms: number): void {
  const begun = performance.now();
  while (performance.now() - begun < ms);
}

describe('src/kit/http/hand-over', () => {
  const egress = new Agent();
  const answering: ServerResponse[] = [];
  let bytes = 2 * turnBytes;
  const server = createServer((_request, response) => {
    answering.push(response);
    response.write('x');
  });
  const finish = () => answering.splice(0).forEach((response) => response.end('x'.repeat(bytes)));
  const send = (timeoutMs: number, signal?: AbortSignal) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return sendHttp(egress, { method: 'GET', url }, { timeoutMs, ...(signal ? { signal } : {}) });
  };
  const answeringAre = async (count: number) => {
    while (answering.length < count) await wait(1);
  };

  beforeAll(async () => {
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  });
  afterAll(async () => {
    await egress.destroy();
    server.close();
  });

  test('serves the first at once, the others in their order, and none who left', async () => {
    const turns = createHandOver();
    const served: number[] = [];
    const leave = [1, 2, 3, 4].map((one) => turns.add(() => served.push(one)));
    leave[1]?.();
    expect(served).toEqual([1]);
    await expect.poll(() => served).toEqual([1, 3, 4]);
    leave[2]?.();
    await wait(20);
    turns.add(() => served.push(5));
    expect(served).toEqual([1, 3, 4, 5]);
  });

  /** How long the loop was free before each of the callers but the first. */
  async function freeBefore(calls: number, holdMs: number): Promise<number[]> {
    const times: { from: number; to: number }[] = [];
    const all = Array.from({ length: calls }, async () => {
      const result = await send(60_000);
      expect('answer' in result && result.answer.body.length).toBe(bytes + 1);
      const from = performance.now();
      hold(holdMs);
      times.push({ from, to: performance.now() });
    });
    await answeringAre(calls);
    finish();
    await Promise.all(all);
    return times.slice(1).map(({ from }, i) => from - (times[i]?.to ?? NaN));
  }

  test('between two large answers that end at once, others have as much time as the first took', async () => {
    const holdMs = 40;
    const free = await freeBefore(6, holdMs);
    expect(free).toHaveLength(5);
    // A timer may be a millisecond early.
    expect(Math.min(...free)).toBeGreaterThan(holdMs - 2);
    bytes = 100;
    const small = await freeBefore(6, holdMs);
    bytes = 2 * turnBytes;
    expect(Math.min(...small)).toBeLessThan(holdMs / 2);
  });

  test('an answer that came in time is one, however long it waits for its turn; whoever gives up is told at once', async () => {
    const [timeoutMs, giveUp] = [1_500, new AbortController()];
    const all = [send(timeoutMs), send(60_000, giveUp.signal)];
    await answeringAre(2);
    // The two come while the loop rests from the first of these.
    for (let i = 0; i < 4; i += 1) handOver.add(() => hold(500));
    finish();
    await wait(400);
    giveUp.abort();
    expect(await all[1]).toMatchObject({ fault: { kind: 'aborted', sent: true } });
    const begun = performance.now();
    expect(await all[0]).toMatchObject({ answer: { status: 200 } });
    expect(performance.now() - begun).toBeGreaterThan(timeoutMs);
  });
});
