import { connect } from 'node:net';
import { pause, split } from './provider.ts';
import { randomOf, type Random } from './random.ts';

/** One call as its seed decides it. */
export interface Shape {
  /** Which installation it is for. */
  of: string;
  method: string;
  bytes: Buffer;
  /** Well-formed, and the caller stays until the answer is there. */
  isQuiet: boolean;
  leave: 'never' | 'sending' | 'waiting' | 'reading';
  resets: boolean;
  waitMs: number;
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PURGE', 'QUERY'];
const oddMethods = ['TRACE', 'CONNECT', 'PRI', 'get'];
const transfers = ['', '', 'TE: trailers\r\n', 'TE: gzip, trailers;q=0.5\r\n'];
const connections = [
  '',
  '',
  'Connection: close\r\n',
  'Connection: keep-alive\r\n',
  'Connection: TE, Trailer\r\n',
  'Connection: Expect, X-Hop\r\nX-Hop: 1\r\n',
  'Connection: Upgrade\r\nUpgrade: h2c\r\n',
  'Connection: content-length, transfer-encoding, host\r\n',
];
const trailers = [
  '',
  '',
  'Trailer: X-Sum\r\n',
  'Trailer: X-Sum, X-Other\r\nTrailer: Content-Length\r\n',
  'Trailer: \r\n',
];
const expectations = ['', '', '', 'Expect: 100-continue\r\n', 'Expect: 100-Continue\r\n'];
const odd = [
  'Expect: miracles\r\n',
  'Content-Length: 1\r\nContent-Length: 2\r\n',
  'Transfer-Encoding: gzip\r\n',
  'Host: two\r\n',
  'X-A: \x01\r\n',
  'X-Svc-Project-Id: twice\r\n',
  'Connection: Upgrade\r\nUpgrade: websocket\r\n',
  'Transfer-Encoding: chunked\r\nContent-Length: 3\r\n',
  'X-Api-Key: twice\r\n',
];
const tunnel = 'CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n';

export function shapeOf(
  seed: number,
  providers: readonly string[],
  oursOf: (provider: string) => string,
): Shape {
  const random = randomOf(seed ^ 0x5bd1e995);
  const of = random.pick(providers);
  const isOdd = random.chance(0.1);
  const method = isOdd && random.chance(0.3) ? random.pick(oddMethods) : random.pick(methods);
  const { framing, body } = bodyOf(random);
  const version = random.chance(0.03) ? '1.0' : '1.1';
  const head = [
    `${method} /storm?s=${seed} HTTP/${version}\r\nHost: x\r\n${oursOf(of)}`,
    random.pick(transfers),
    random.pick(connections),
    random.pick(trailers),
    random.pick(expectations),
    random.chance(0.05) ? 'X-Svc-Rate-Limiter-Mode: throttle\r\n' : '',
    isOdd ? random.pick(odd) : '',
    framing,
    '\r\n',
  ].join('');
  const behind = random.chance(0.1) ? random.pick(['NONSENSE\r\n\r\n', head, '\r\n\r\n', 'GET', tunnel]) : '';
  const leave = random.chance(0.6) ? 'never' : random.pick(['sending', 'waiting', 'reading'] as const);
  const whole = Buffer.from(head + body + behind, 'latin1');
  return {
    of,
    method,
    bytes: leave === 'sending' ? whole.subarray(0, random.below(whole.length)) : whole,
    isQuiet:
      !isOdd &&
      behind === '' &&
      leave === 'never' &&
      version === '1.1' &&
      !head.includes('Rate-Limiter') &&
      !body.includes('zz'),
    leave,
    resets: random.chance(0.5),
    waitMs: random.chance(0.4) ? random.below(40) : 0,
  };
}

function bodyOf(random: Random): { framing: string; body: string } {
  const size = random.pick([0, 1, 10, 2_000, 70_000, 1_200_000]);
  // Large ones are slow to make and tell little more.
  const text = 'b'.repeat(size > 100_000 && random.chance(0.9) ? 100 : size);
  switch (random.below(4)) {
    case 0:
      return { framing: '', body: '' };
    case 1:
      return { framing: `Content-Length: ${text.length}\r\n`, body: text };
    default: {
      const chunk = text === '' ? '' : `${text.length.toString(16)}\r\n${text}\r\n`;
      const end = random.pick(['0\r\n\r\n', '0\r\n\r\n', '0\r\nX-Sum: 1\r\nX-Other: two\r\n\r\n', 'zz\r\n']);
      return { framing: 'Transfer-Encoding: chunked\r\n', body: chunk + end };
    }
  }
}

/** Everything that came back, until the answer was whole, the connection ended or nothing came for `patienceMs`. */
export async function callBy(
  shape: Shape,
  port: number,
  seed: number,
  patienceMs: number,
): Promise<{ text: string; hung: boolean }> {
  const random = randomOf(seed ^ 0x1b873593);
  const socket = connect(port, '127.0.0.1');
  let text = '';
  let hung = false;
  const leave = (): void => void (shape.resets ? socket.resetAndDestroy() : socket.destroy());
  const over = new Promise<void>((resolve) => {
    socket.on('close', () => resolve());
    socket.on('error', () => undefined);
    socket.setTimeout(patienceMs, () => {
      hung = true;
      socket.destroy();
    });
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (shape.leave === 'reading') leave();
      else if (isWhole(text, shape.method)) socket.destroy();
    });
  });
  for (const part of split(random, shape.bytes)) {
    if (socket.destroyed) break;
    socket.write(part);
    if (shape.waitMs > 0) await pause(shape.waitMs / 3);
  }
  if (shape.leave === 'sending') leave();
  if (shape.leave === 'waiting') setTimeout(leave, shape.waitMs);
  await over;
  return { text, hung };
}

function isWhole(text: string, method: string): boolean {
  const final = withoutInterim(text);
  const end = final.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const head = final.slice(0, end);
  const body = final.slice(end + 4);
  if (method === 'HEAD' || /^HTTP\/1\.1 (204|304)/.test(head)) return true;
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (length !== undefined) return body.length >= Number(length);
  return /(?:^|\r\n)0\r\n(?:[^\r]+\r\n)*\r\n$/.test(body.slice(-200)) || body.startsWith('0\r\n');
}

export function withoutInterim(text: string): string {
  return text.replace(/^(?:HTTP\/1\.1 1\d\d[^\r]*\r\n(?:[^\r]+\r\n)*\r\n)+/, '');
}
