import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { requestWithinMs } from '../../kit/http/request-time.ts';
import { limitRest, readCallBody } from './body.ts';

describe('actions/proxy/body', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  it('a body that is read whole and comes too slowly is refused, however steadily it comes', async () => {
    const { incoming, caller, close } = await begun({ 'content-length': 10 });
    const read = readCallBody(incoming, false).then(
      () => 'read',
      (error: unknown) => error,
    );
    caller.write('a');
    await vi.advanceTimersByTimeAsync(requestWithinMs - 1);
    caller.write('b');
    await vi.advanceTimersByTimeAsync(1);
    expect(await read).toMatchObject({ code: 'request-timeout', status: 408 });
    close();
  });

  it('a body in time leaves no timer', async () => {
    const { incoming, caller, close } = await begun({ 'content-length': 2 });
    const read = readCallBody(incoming, false);
    caller.end('ab');
    expect((await read)?.again()?.toString()).toBe('ab');
    expect(vi.getTimerCount()).toBe(0);
    close();
  });

  it('what still comes after the answer comes for a time only', async () => {
    const { incoming, caller, close } = await begun({ 'content-length': 10 });
    caller.write('a');
    limitRest(incoming);
    await vi.advanceTimersByTimeAsync(requestWithinMs - 1);
    expect(incoming.destroyed).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(incoming.destroyed).toBe(true);
    close();
  });

  it('a request that came to its end is not limited', async () => {
    const { incoming, caller, close } = await begun({ 'content-length': 2 });
    limitRest(incoming);
    caller.end('ab');
    incoming.resume();
    await once(incoming, 'close');
    expect(vi.getTimerCount()).toBe(0);
    close();
  });

  it('a body that is streamed on is not held to it', async () => {
    const { incoming, caller, close } = await begun({ 'transfer-encoding': 'chunked' });
    await readCallBody(incoming, false);
    caller.write('a');
    await vi.advanceTimersByTimeAsync(requestWithinMs * 2);
    expect(incoming.destroyed).toBe(false);
    close();
  });
});

/** A request of which the headers have come. */
async function begun(headers: Record<string, string | number>) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const arrived = new Promise<IncomingMessage>((resolve) => server.once('request', resolve));
  const caller = request({ port: (server.address() as AddressInfo).port, method: 'POST', headers });
  caller.on('error', () => undefined);
  caller.flushHeaders();
  const incoming = await arrived;
  incoming.on('error', () => undefined);
  return {
    incoming,
    caller,
    close: () => {
      caller.destroy();
      server.close();
    },
  };
}
