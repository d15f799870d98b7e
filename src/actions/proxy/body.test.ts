import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { bodyBudget } from '../../kit/http/body-budget.ts';
import { paceChunks } from '../../kit/http/chunk-pace.ts';
import { requestWithinMs } from '../../kit/http/request-time.ts';
import { limitRest, readCallBody, type CallBody } from './body.ts';

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
    const body = await read;
    expect(body?.again()?.toString()).toBe('ab');
    body?.release();
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

  it('what is kept counts in the budget until it is released', async () => {
    const { incoming, caller, close } = await begun({ 'content-length': 2 });
    const read = readCallBody(incoming, false);
    caller.end('ab');
    const body = await read;
    expect(bodyBudget.used()).toBe(2);
    body?.release();
    expect(bodyBudget.used()).toBe(0);
    close();
  });

  it('a caller who leaves midway leaves nothing in the budget', async () => {
    const { incoming, caller, close } = await begun({ 'content-length': 10 });
    const read = readCallBody(incoming, false);
    caller.write('a');
    await once(incoming, 'data');
    caller.destroy();
    expect(await read).toBeUndefined();
    expect(bodyBudget.used()).toBe(0);
    close();
  });

  it('a caller who left before it is read leaves nothing in the budget', async () => {
    const { incoming, caller, close } = await begun({ 'content-length': 10 });
    caller.destroy();
    await vi.waitUntil(() => incoming.destroyed);
    expect(await readCallBody(incoming, false)).toBeUndefined();
    expect(bodyBudget.used()).toBe(0);
    close();
  });

  it('chunks that came together are passed on together', async () => {
    const { incoming, caller, close } = await begun({ 'transfer-encoding': 'chunked' });
    const body = await readCallBody(incoming, false);
    const pieces: string[] = [];
    caller.cork();
    for (let count = 0; count < 500; count += 1) caller.write('ab');
    caller.uncork();
    caller.end();
    for await (const piece of streamOf(body)) pieces.push(String(piece));
    expect(pieces.join('')).toBe('ab'.repeat(500));
    expect(pieces.length).toBeLessThan(50);
    expect(String(body?.again())).toBe('ab'.repeat(500));
    body?.release();
    close();
  });

  it('a streamed body is there once more when all of it was passed on, and not when all of it has come', async () => {
    const { incoming, caller, close } = await begun({ 'transfer-encoding': 'chunked' });
    const body = await readCallBody(incoming, false);
    // A provider that takes the first part, and for now no more.
    streamOf(body).once('data', () => streamOf(body).pause());
    caller.end(Buffer.alloc(190_000, 'a'));
    await vi.waitUntil(() => incoming.complete);
    expect(body?.again()?.length).toBeUndefined();
    streamOf(body).resume();
    await once(incoming, 'end');
    expect(body?.again()?.length).toBe(190_000);
    body?.release();
    close();
  });

  it('a streamed body whose rest was thrown away is not there once more', async () => {
    const { incoming, caller, close } = await begun({ 'transfer-encoding': 'chunked' });
    const body = await readCallBody(incoming, false);
    // The provider's answer came before the body's end.
    streamOf(body).once('data', () => streamOf(body).destroy());
    caller.end(Buffer.alloc(190_000, 'a'));
    await once(incoming, 'end');
    expect(body?.again()?.length).toBeUndefined();
    body?.release();
    expect(bodyBudget.used()).toBe(0);
    close();
  });

  it('where there is no room a body passes and is not kept', async () => {
    const others = bodyBudget.open('proxied');
    others.take(32 * 1024 * 1024);
    const known = await begun({ 'content-length': 100_000 });
    const whole = await readCallBody(known.incoming, false);
    expect(Buffer.isBuffer(whole?.first)).toBe(false);
    expect(whole?.again()).toBeUndefined();
    known.close();
    const { incoming, caller, close } = await begun({ 'transfer-encoding': 'chunked' });
    const streamed = await readCallBody(incoming, true);
    streamOf(streamed).resume();
    caller.end(Buffer.alloc(100_000));
    await once(incoming, 'end');
    expect(streamed?.again()).toBeUndefined();
    others.end();
    expect(bodyBudget.used()).toBe(0);
    close();
  });

  it('a streamed body in chunks of one byte is kept in few blocks, and refused when they are too many', async () => {
    const { incoming, caller, close } = await begun({ 'transfer-encoding': 'chunked' });
    const body = await readCallBody(incoming, true);
    const refused = once(streamOf(body), 'error');
    streamOf(body).resume();
    for (let count = 0; count < 60_000; count += 1) caller.write('a');
    const [error] = (await refused) as [unknown];
    expect(error).toMatchObject({ code: 'proxy-request-invalid', status: 400 });
    body?.release();
    expect(bodyBudget.used()).toBe(0);
    close();
  });
});

function streamOf(body: CallBody | undefined): Readable {
  return body?.first as Readable;
}

/** A request of which the headers have come. */
async function begun(headers: Record<string, string | number>) {
  const server = createServer();
  paceChunks(server);
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
