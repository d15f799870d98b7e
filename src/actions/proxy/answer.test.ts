import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTinyProvider } from '../../kit/http/tiny-provider.fixture.ts';
import { Answer, type AnswerRules } from './answer.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (how?: { type: 'minor' }) => void;

const rules: AnswerRules = {
  requestId: 'one',
  holdRejection: false,
  quotaNames: undefined,
  query: undefined,
  onBegin: () => undefined,
  onQuota: () => [],
  bodyDecides: () => false,
  judge: () => [],
  isThrottled: false,
};
/** What each call holds beside the rules, so that it shows when a call stays. */
const weightBytes = 50_000;

async function listening(onRequest: RequestListener): Promise<{ server: Server; origin: string }> {
  const server = createServer(onRequest).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe('actions/proxy/answer', () => {
  const egress = new Agent();
  const callers = new Agent();
  let provider: Awaited<ReturnType<typeof listening>>;
  let proxy: Awaited<ReturnType<typeof listening>>;
  beforeAll(async () => {
    provider = await listening((_request, response) => response.end('{"ok":true}'));
    proxy = await listening((_request, response) => {
      const own = { ...rules, weight: Buffer.alloc(weightBytes, 'w').toString('latin1') };
      const answer = new Answer(response, own, () => undefined);
      egress.dispatch({ origin: provider.origin, path: '/', method: 'GET' }, answer);
    });
  });
  afterAll(async () => {
    await Promise.all([egress.destroy(), callers.destroy()]);
    for (const { server } of [provider, proxy]) server.close();
  });

  async function callMany(): Promise<void> {
    for (let left = 100; left > 0; left--) {
      const { body } = await request(proxy.origin, { dispatcher: callers });
      expect(await body.text()).toBe('{"ok":true}');
    }
  }

  /** What is left once the young objects that nothing holds are gone. */
  function held(): number {
    for (let round = 0; round < 3; round++) collect({ type: 'minor' });
    return process.memoryUsage().heapUsed;
  }

  it('leaves nothing of an answered call for a full collection', async () => {
    await callMany();
    collect();
    const before = held();
    const after: number[] = [];
    for (let round = 0; round < 8; round++) {
      await callMany();
      after.push(held());
    }
    expect(Math.max(...after) - before).toBeLessThan(100 * weightBytes);
  });

  it.each([
    ['200 OK', false],
    ['401 Unauthorized', true],
  ])(
    'takes few tiny chunks in a turn, and passes on all of them in few writes: %s',
    async (status, isHeld) => {
      const count = 100_000;
      const tiny = await startTinyProvider(count, status);
      let writes = 0;
      const between = await listening((_request, response) => {
        const write = response.write.bind(response);
        response.write = (part: Buffer) => {
          writes += 1;
          return write(part);
        };
        const answer = new Answer(response, { ...rules, holdRejection: isHeld }, (end) => {
          if (end.kind === 'rejected') end.passOn();
        });
        tiny.egress.dispatch({ origin: tiny.origin, path: '/', method: 'GET' }, answer);
      });
      const { body } = await request(between.origin, { dispatcher: callers });
      expect(await body.text()).toBe('x'.repeat(count));
      between.server.close();
      await tiny.close();
      expect(tiny.mostInTurn()).toBeLessThan(2_100);
      expect(writes).toBeLessThan(count / 100);
    },
  );
});
