import { readFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import type { Platform } from '../platform.ts';
import { startRawPlatform } from '../raw-customer.ts';

const size = 64 * 1024 * 1024;
const part = Buffer.alloc(64 * 1024, 'x');

/** Echoes every body as it comes, so that what goes up comes down. */
function startEcho(): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    const isPatient = incoming.url === '/slow';
    outgoing.writeHead(200, { 'content-type': 'application/octet-stream' });
    if (isPatient) setTimeout(() => incoming.pipe(outgoing), 1_500);
    else incoming.pipe(outgoing);
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

// The memory of another process is read from /proc.
describe.skipIf(process.platform !== 'linux')('test/journeys/proxy-memory', () => {
  let test: TestDatabase;
  let echo: Server;
  let platform: Platform;
  let ours: Record<string, string>;

  beforeAll(async () => {
    [test, echo] = await Promise.all([createTestDatabase(), startEcho()]);
    const origin = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
    ({ platform, ours } = await startRawPlatform(test.url, origin));
  });
  afterAll(async () => {
    await platform?.stop();
    echo?.closeAllConnections();
    echo?.close();
    await test?.drop();
  });

  const residentMb = (): number => {
    const status = readFileSync(`/proc/${platform.process().pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  };
  /** The most memory that the platform took meanwhile. */
  async function peakDuring<Result>(
    work: () => Promise<Result>,
  ): Promise<{ result: Result; peakMb: number }> {
    let peakMb = residentMb();
    const timer = setInterval(() => {
      peakMb = Math.max(peakMb, residentMb());
    }, 20);
    const result = await work();
    clearInterval(timer);
    return { result, peakMb };
  }
  /** Sends `bytes` and counts what comes back; `sentAt` tells how much had left after a while of not reading. */
  function transfer(
    path: string,
    bytes: number,
    waitMs = 0,
  ): Promise<{ received: number; sentUnread: number }> {
    return new Promise((resolve, reject) => {
      let sent = 0;
      let received = 0;
      let sentUnread = 0;
      const url = new URL(platform.proxy + path);
      const outgoing = request(url, {
        method: 'POST',
        headers: { ...ours, 'transfer-encoding': 'chunked' },
        agent: false,
      });
      const write = (): void => {
        while (sent < bytes) {
          sent += part.length;
          if (!outgoing.write(part)) return void outgoing.once('drain', write);
        }
        outgoing.end();
      };
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        setTimeout(() => {
          sentUnread = sent;
          incoming.on('data', (chunk: Buffer) => (received += chunk.length));
        }, waitMs);
        incoming.on('end', () => resolve({ received, sentUnread }));
        incoming.on('error', reject);
      });
      write();
    });
  }

  it('64 MiB each way pass in little memory', async () => {
    // One transfer of that size before, so that the growth of a young heap is not measured.
    await transfer('/warm', size);
    const idleMb = residentMb();
    const { result, peakMb } = await peakDuring(() => transfer('/echo', size));
    expect(result.received).toBe(size);
    expect(peakMb - idleMb).toBeLessThan(64);
  });

  it('a caller who does not read, and a provider who does not, hold the other side back', async () => {
    const idleMb = residentMb();
    const large = 2 * size;
    const { result, peakMb } = await peakDuring(() => transfer('/unread', large, 1_500));
    expect(result.received).toBe(large);
    // What the kernels' buffers and ours take, in both directions: up to 45 MiB on a busy machine.
    expect(result.sentUnread).toBeLessThan(large / 2);
    expect(peakMb - idleMb).toBeLessThan(64);
    const slow = await peakDuring(() => transfer('/slow', size));
    expect(slow.result.received).toBe(size);
    expect(slow.peakMb - idleMb).toBeLessThan(64);
  });
});
