import { request, type IncomingMessage } from 'node:http';
import type { Figure } from '../figure.ts';
import { residentMb } from '../process.ts';
import { prepareProxy, type ProxyBench } from './proxy.ts';

const gigabyte = 1024 ** 3;
const slowPeers = 50;
const slowMs = 30_000;
const part = Buffer.alloc(64 * 1024, 'x');

export const proxyMemory: Figure = {
  id: 'proxy-memory',
  about: `the most memory while 1 GiB goes each way, then ${slowPeers} peers read slowly for ${slowMs / 1000} s`,
  unit: 'MB',
  yardstick: 'the same process at rest',
  goal: { of: 'difference', atMost: 256 },
  once: true,
  prepare: async () => {
    const bench = await prepareProxy();
    return { close: () => bench.close(), run: () => measureMemory(bench) };
  },
};

async function measureMemory(bench: ProxyBench): Promise<{ value: number; yardstick: number }> {
  const { pid } = bench.stage;
  const yardstick = residentMb(pid);
  let value = yardstick;
  const timer = setInterval(() => {
    value = Math.max(value, residentMb(pid));
  }, 50);
  const received = await echo(bench, gigabyte, (incoming) => incoming.resume());
  if (received !== gigabyte) throw new Error(`${received} bytes of ${gigabyte} came back`);
  await Promise.all(Array.from({ length: slowPeers }, () => echo(bench, Infinity, readSlowly)));
  clearInterval(timer);
  return { value, yardstick };
}

/** Takes a little, rests, and leaves when its time is over. */
function readSlowly(incoming: IncomingMessage): void {
  incoming.on('data', () => {
    incoming.pause();
    setTimeout(() => incoming.resume(), 500);
  });
  setTimeout(() => incoming.destroy(), slowMs);
}

/** Sends so many bytes, chunked, and counts what comes back. */
function echo(
  { stage, headers }: ProxyBench,
  bytes: number,
  read: (incoming: IncomingMessage) => void,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${stage.proxy}/echo`, { method: 'POST', headers, agent: false });
    let sent = 0;
    const write = (): void => {
      while (sent < bytes && !outgoing.destroyed) {
        sent += part.length;
        if (outgoing.write(part)) continue;
        outgoing.once('drain', write);
        return;
      }
      outgoing.end();
    };
    let received = 0;
    outgoing.on('response', (incoming) => {
      incoming.on('data', (chunk: Buffer) => (received += chunk.length));
      incoming.on('error', () => undefined);
      incoming.on('close', () => resolve(received));
      read(incoming);
    });
    outgoing.on('error', (error) => (received > 0 ? resolve(received) : reject(error)));
    write();
  });
}
