import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** An HTTP/1.1 message, read from its bytes by a parser of the tests. */
export interface RawMessage {
  startLine: string;
  headers: [name: string, value: string][];
  /** Without its framing. */
  body: Buffer;
  trailers: [name: string, value: string][];
  framing: 'none' | 'length' | 'chunked' | 'close';
}

interface Parsed {
  message: RawMessage;
  /** Bytes that it takes. */
  size: number;
}

/** What the beginning of a stream is: undefined while it is incomplete. `isOver`: no more bytes come. */
export function parseMessage(
  bytes: Buffer,
  kind: 'request' | 'response' | 'bodiless',
  isOver: boolean,
): Parsed | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [startLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const headers = lines.map(fieldOf);
  const start = end + 4;
  const head = { startLine, headers, body: Buffer.alloc(0), trailers: [] };
  const value = (name: string): string | undefined =>
    headers.find(([each]) => each.toLowerCase() === name)?.[1];
  const none = { message: { ...head, framing: 'none' as const }, size: start };
  if (kind === 'bodiless') return none;
  if (value('transfer-encoding')) return parseChunks(bytes, start, head);
  const length = value('content-length');
  if (length !== undefined) {
    const size = start + Number(length);
    if (bytes.length < size) return undefined;
    return { message: { ...head, body: bytes.subarray(start, size), framing: 'length' }, size };
  }
  if (kind === 'request') return none;
  if (!isOver) return undefined;
  return { message: { ...head, body: bytes.subarray(start), framing: 'close' }, size: bytes.length };
}

function fieldOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).trim()];
}

function parseChunks(bytes: Buffer, from: number, head: Omit<RawMessage, 'framing'>): Parsed | undefined {
  const parts: Buffer[] = [];
  let at = from;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    at = lineEnd + 2;
    if (size === 0) break;
    if (bytes.length < at + size + 2) return undefined;
    parts.push(bytes.subarray(at, at + size));
    at += size + 2;
  }
  const trailers: [string, string][] = [];
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const line = bytes.subarray(at, lineEnd).toString('latin1');
    at = lineEnd + 2;
    if (line === '') break;
    trailers.push(fieldOf(line));
  }
  return { message: { ...head, body: Buffer.concat(parts), trailers, framing: 'chunked' }, size: at };
}

/** A provider on bare sockets: writes down what it is sent and answers the bytes it is told. */
export interface RawProvider {
  url: string;
  seen: RawMessage[];
  /** How it answers from now on: bytes, or what it does with the socket itself once the request is there. */
  answer(given: Buffer | string | ((socket: Socket, request: RawMessage) => void)): void;
  /** Answers these bytes as soon as the head of a request is there, and ignores what follows it. */
  answerEarly(bytes: string): void;
  /** Connections that are open. */
  open(): number;
  reset(): void;
  close(): Promise<void>;
}

const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

export async function startRawProvider(): Promise<RawProvider> {
  const seen: RawMessage[] = [];
  const sockets = new Set<Socket>();
  let given: Parameters<RawProvider['answer']>[0] = plain;
  let early = '';
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    let bytes = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('end', () => socket.end());
    socket.on('close', () => sockets.delete(socket));
    let isAnswered = false;
    socket.on('data', (chunk: Buffer) => {
      if (isAnswered) return;
      bytes = Buffer.concat([bytes, chunk]);
      if (early !== '' && bytes.includes('\r\n\r\n')) {
        isAnswered = !early.startsWith('HTTP/1.1 100');
        socket.write(early);
        if (!isAnswered) early = '';
        return;
      }
      for (
        let found = parseMessage(bytes, 'request', false);
        found;
        found = parseMessage(bytes, 'request', false)
      ) {
        seen.push(found.message);
        bytes = bytes.subarray(found.size);
        if (typeof given === 'function') given(socket, found.message);
        else {
          socket.write(given);
          // An answer that ends with the connection.
          if (!/content-length|transfer-encoding|^HTTP\/1.1 (204|304)/im.test(given.toString('latin1')))
            socket.end();
        }
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    answer: (next) => {
      given = next;
    },
    answerEarly: (next) => {
      early = next;
    },
    open: () => sockets.size,
    reset: () => {
      seen.length = 0;
      given = plain;
      early = '';
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Sends bytes on a connection of their own and reads what comes back: at most `expect` messages, or until the end. */
export function rawExchange(
  origin: string,
  bytes: Buffer | string,
  { method = 'GET', timeoutMs = 5_000 } = {},
): Promise<{ message: RawMessage | undefined; interim: string[]; bytes: Buffer }> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let received = Buffer.alloc(0);
    const interim: string[] = [];
    const look = (isOver: boolean): boolean => {
      const early = /^HTTP\/1\.1 (1\d\d)[^\r]*\r\n(?:[^\r]+\r\n)*\r\n/.exec(received.toString('latin1'));
      if (early) {
        interim.push(early[1] ?? '');
        received = received.subarray(early[0].length);
        return look(isOver);
      }
      const status = received.toString('latin1', 9, 12);
      const isBodiless = method === 'HEAD' || status === '204' || status === '304';
      const found = parseMessage(received, isBodiless ? 'bodiless' : 'response', isOver);
      if (!found && !isOver) return false;
      resolve({ message: found?.message, interim, bytes: received });
      socket.destroy();
      return true;
    };
    socket.setTimeout(timeoutMs, () => {
      reject(new Error(`no answer within ${timeoutMs} ms; so far: ${received.toString('latin1')}`));
      socket.destroy();
    });
    socket.on('error', (error) => (received.length > 0 ? look(true) : reject(error)));
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      look(false);
    });
    socket.on('end', () => look(true));
    socket.on('close', () => look(true));
    socket.write(bytes);
  });
}
