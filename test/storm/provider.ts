import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createTlsServer, TLSSocket } from 'node:tls';
import { certificate } from '../certificate.ts';
import { randomOf, type Random } from './random.ts';

/** What a provider does with one call, decided by the call's seed. */
export interface Plan {
  /** `answer`: as it should be. The others break off or break the rules. */
  kind: 'answer' | 'cut' | 'silent' | 'garbage' | 'leave';
  status: number;
  body: string;
  parts: Buffer[];
  waitMs: number;
  /** Before the body of the request has come. */
  isEarly: boolean;
  resets: boolean;
}

// Not 401: it would end the credentials of all calls that follow.
const statuses = [200, 201, 202, 204, 301, 304, 400, 403, 404, 409, 413, 429, 500, 503];
const garbage = [
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'HTTP/1.1 200 \x01\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
  'HTTP/1.1 999 High\r\nX-A: \x7f\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/2 200\r\n\r\n',
  '220 smtp.example ready\r\n',
  '\0\x16\x03\x01',
];

export function planOf(seed: number): Plan {
  const random = randomOf(seed);
  const kind = random.pick([
    ...Array<'answer'>(11).fill('answer'),
    'cut',
    'cut',
    'cut',
    'cut',
    'silent',
    'garbage',
    'garbage',
    'leave',
    'leave',
  ] as const);
  const status = random.pick(statuses);
  const size = random.pick([0, 1, 2, 40, 3_000, 100_000]);
  const body = status === 204 || status === 304 ? '' : 'x'.repeat(size);
  const text = kind === 'garbage' ? random.pick(garbage) : answerOf(random, status, body);
  const bytes = Buffer.from(text, 'latin1');
  const shown = kind === 'cut' ? bytes.subarray(0, random.below(bytes.length)) : bytes;
  return {
    kind,
    status,
    body,
    parts: split(random, shown),
    waitMs: random.chance(0.3) ? random.below(30) : 0,
    isEarly: random.chance(0.2),
    resets: random.chance(0.5),
  };
}

function answerOf(random: Random, status: number, body: string): string {
  const interim = random.chance(0.1) ? 'HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n' : '';
  const extra = random.pick([
    '',
    'Connection: close\r\n',
    'Connection: X-A\r\nX-A: 1\r\n',
    'X-Svc-Problem: no\r\n',
  ]);
  const head = `${interim}HTTP/1.1 ${status} Said\r\n${extra}`;
  if (status === 204 || status === 304) return `${head}\r\n`;
  if (random.chance(0.5)) return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  const trailers = random.chance(0.5);
  const chunk = body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`;
  const announced = trailers ? 'Trailer: X-Sum\r\n' : '';
  return `${head}${announced}Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n${trailers ? 'X-Sum: 1\r\n' : ''}\r\n`;
}

/** In up to four pieces. */
export function split(random: Random, bytes: Buffer): Buffer[] {
  const cuts = Array.from({ length: random.below(4) }, () => random.below(bytes.length + 1)).toSorted(
    (a, b) => a - b,
  );
  const ends = [...cuts, bytes.length];
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Providers that do to each call what its seed says: in the open, over TLS, and one that takes connections and is silent. */
export interface StormProviders {
  plain: string;
  secure: string;
  tarpit: string;
  open(): number;
  close(): Promise<void>;
}

export async function startStormProviders(seed: number): Promise<StormProviders> {
  const random = randomOf(seed);
  const sockets = new Set<Socket>();
  const watch = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };
  const tls = createTlsServer(certificate, (socket) => {
    socket.on('error', () => undefined);
    serve(socket);
  });
  tls.on('tlsClientError', () => undefined);
  /** Some connections end while they begin. */
  const leavesAtOnce = (socket: Socket): boolean => {
    if (!random.chance(0.03)) return false;
    setTimeout(() => (random.chance(0.5) ? socket.resetAndDestroy() : socket.destroy()), random.below(5));
    return true;
  };
  const servers = [
    createServer((socket) => {
      watch(socket);
      if (!leavesAtOnce(socket)) serve(socket);
    }),
    createServer((socket) => {
      watch(socket);
      if (!leavesAtOnce(socket)) tls.emit('connection', socket);
    }),
    createServer((socket) => {
      watch(socket);
      socket.resume();
    }),
  ];
  for (const server of servers) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  return {
    plain: `http://127.0.0.1:${ports[0]}`,
    secure: `https://127.0.0.1:${ports[1]}`,
    tarpit: `https://127.0.0.1:${ports[2]}`,
    open: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      for (const server of servers) await new Promise((resolve) => server.close(resolve));
    },
  };
}

function serve(socket: Socket): void {
  let text = '';
  let isBusy = false;
  const look = async (): Promise<void> => {
    const end = text.indexOf('\r\n\r\n');
    if (end < 0 || isBusy) return;
    const head = text.slice(0, end);
    const plan = planOf(Number(/[?&]s=(\d+)/.exec(head)?.[1] ?? 0));
    const size = plan.isEarly ? 0 : sizeOfBody(head, text.slice(end + 4));
    if (/^expect:/im.test(head) && plan.kind === 'answer' && !plan.isEarly && size === undefined)
      socket.write('HTTP/1.1 100 Continue\r\n\r\n');
    if (size === undefined) return;
    text = text.slice(end + 4 + size);
    isBusy = true;
    await act(socket, plan);
    isBusy = false;
    await look();
  };
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    void look();
  });
}

/** How many bytes behind the head belong to the request; undefined while they are not all there. */
function sizeOfBody(head: string, rest: string): number | undefined {
  if (/^transfer-encoding:/im.test(head)) {
    const end = /(?:^|\r\n)0\r\n(?:[^\r]+\r\n)*\r\n/.exec(rest);
    return end ? end.index + end[0].length : undefined;
  }
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  return rest.length >= length ? length : undefined;
}

async function act(socket: Socket, plan: Plan): Promise<void> {
  await pause(plan.waitMs);
  if (plan.kind === 'silent') return;
  if (plan.kind !== 'leave') {
    for (const part of plan.parts) {
      socket.write(part);
      if (plan.waitMs > 0) await pause(plan.waitMs / 4);
    }
  }
  if (plan.kind === 'answer' && !plan.isEarly) return;
  if (plan.resets && plan.kind !== 'answer') {
    // A TLS socket cannot be reset.
    if (socket instanceof TLSSocket) socket.destroy();
    else socket.resetAndDestroy();
  } else socket.end();
}
