import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived, byte for byte. */
export interface Recorded {
  method: string;
  /** Path and query as they stood in the request line. */
  target: string;
  rawHeaders: string[];
  headers: Record<string, string>;
  body: Buffer;
}

/** A provider that writes down what it is asked and answers what it is told. */
export interface Recorder {
  url: string;
  seen: Recorded[];
  /** How it answers from now on; by default 200 with `{}`. */
  answer(handler: (request: Recorded, response: ServerResponse) => void): void;
  reset(): void;
  close(): Promise<void>;
}

export async function startRecorder(): Promise<Recorder> {
  const seen: Recorded[] = [];
  const plain = (_request: Recorded, response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  };
  let handler = plain;
  const server: Server = createServer((message, response) => {
    void serve(message, response);
  });
  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const recorded = await collect(message);
    seen.push(recorded);
    handler(recorded, response);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    answer: (given) => {
      handler = given;
    },
    reset: () => {
      seen.length = 0;
      handler = plain;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function collect(message: IncomingMessage): Promise<Recorded> {
  const chunks: Buffer[] = [];
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk);
  return {
    method: message.method ?? '',
    target: message.url ?? '',
    rawHeaders: message.rawHeaders,
    headers: message.headers as Record<string, string>,
    body: Buffer.concat(chunks),
  };
}
