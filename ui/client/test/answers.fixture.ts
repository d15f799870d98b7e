import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the server got it. */
export interface Got {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  at: number;
}

type Respond = (response: ServerResponse) => void;

/** A server that answers each request with the next of `answers`, and the last one from then on. */
export interface Answers {
  url: string;
  got: Got[];
  close(): Promise<void>;
}

export async function startAnswers(...answers: Respond[]): Promise<Answers> {
  const got: Got[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      got.push({ method, path, headers, body: Buffer.concat(chunks).toString(), at: Date.now() });
      answers[Math.min(got.length, answers.length) - 1]?.(response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    got,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Respond =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

/** A problem as svc answers it. */
export const problem = (
  status: number,
  code: string,
  members: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Respond =>
  json(
    status,
    {
      type: `urn:svc:problem:${code}`,
      code,
      title: code,
      status,
      detail: 'It did not work.',
      remedy: 'Do something else.',
      requestId: 'r-1',
      retryable: false,
      time: '2026-01-15T09:30:00.000Z',
      ...members,
    },
    headers,
  );

export const written = json(200, { operationId: 'o-1', result: { success: true, recordId: '512' } });

/** The request was done, or not, and nobody is told. */
export const lost: Respond = (response) => response.socket?.destroy();
export const half: Respond = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"operat');
  setTimeout(() => response.socket?.destroy(), 20);
};
export const silent: Respond = () => undefined;
