import { connect, type Socket } from 'node:net';
import type { LoadTarget } from './load.ts';

/**
 * As many requests per second as go through in the time, each caller on a connection of its own, sending its next when the last was
 * answered. On bare sockets with the request's bytes made before: on a machine that caller and service share, the caller's
 * work is part of the figure. Throws at the first answer that has another status than expected, or no content-length.
 */
export async function rawLoad(target: LoadTarget, callers: number, seconds: number): Promise<number> {
  const bytesOf = requestBytes(target);
  const expected = `HTTP/1.1 ${target.expect ?? 200} `;
  const startedAt = performance.now();
  const endAt = startedAt + seconds * 1000;
  const counts = await Promise.all(
    Array.from({ length: callers }, () => callOver(new URL(target.origin), bytesOf, expected, endAt)),
  );
  const done = counts.reduce((sum, count) => sum + count, 0);
  return done / ((performance.now() - startedAt) / 1000);
}

function requestBytes({ origin, method, path, headers = {}, body = '' }: LoadTarget): () => Buffer {
  const known = new Map<string, Buffer>();
  return () => {
    const at = typeof path === 'string' ? path : path();
    let bytes = known.get(at);
    if (!bytes) {
      const lines = Object.entries({ host: new URL(origin).host, ...headers }).map(
        ([name, value]) => `${name}: ${value}`,
      );
      const head = `${method} ${at} HTTP/1.1\r\n${lines.join('\r\n')}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`;
      bytes = Buffer.concat([Buffer.from(head), Buffer.from(body)]);
      known.set(at, bytes);
    }
    return bytes;
  };
}

function callOver(
  { hostname, port }: URL,
  bytesOf: () => Buffer,
  expected: string,
  endAt: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    let count = 0;
    let received = '';
    const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true });
    socket.setEncoding('latin1');
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the service closed a connection')));
    socket.once('connect', () => socket.write(bytesOf()));
    socket.on('data', (text: string) => {
      received += text;
      const length = lengthOf(received);
      if (length === undefined || received.length < length) return;
      if (!received.startsWith(expected)) {
        socket.destroy(new Error(`answered: ${received}`));
        return;
      }
      received = '';
      count += 1;
      if (performance.now() < endAt) {
        socket.write(bytesOf());
        return;
      }
      socket.removeAllListeners();
      socket.destroy();
      resolve(count);
    });
  });
}

/** Of the whole answer, once its head is there. */
function lengthOf(received: string): number | undefined {
  const head = received.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(received.slice(0, head + 2));
  if (!length) throw new Error(`an answer without a length: ${received}`);
  return head + 4 + Number(length[1]);
}
