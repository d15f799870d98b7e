import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { newId } from '../ids.ts';
import { problem, renderProblem, type Problem } from '../problem.ts';

/** What node answers by itself, or not at all, before a request reaches the router: as problems, too. */
export function answerClientFaults(server: Server, headers: Readonly<Record<string, string>>): void {
  server.on('checkExpectation', ({ headers: { expect } }: IncomingMessage, response: ServerResponse) => {
    const detail = `The expectation ${expect} is not known.`;
    const answer = rendered(problem('expectation-failed', { detail }), headers);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  server.on('connect', ({ url }: IncomingMessage, socket: Duplex) => {
    answerOnSocket(socket, problem('route-not-found', { detail: `There is no CONNECT ${url}.` }), headers);
  });
}

/** What node's parser refuses. */
export function answerUnreadable(
  error: Error & { code?: string },
  socket: Duplex & { _httpMessage?: ServerResponse | null },
  headers: Readonly<Record<string, string>>,
): void {
  const pending = socket._httpMessage;
  // The answer to an earlier request is on its way, or has begun: this one would be taken for it, or for its end.
  const isTaken = pending && (pending.req.complete || pending.headersSent);
  if (error.code === 'ECONNRESET' || isTaken) socket.destroy();
  else answerOnSocket(socket, unreadable(error), headers);
}

function unreadable(error: Error & { code?: string; reason?: string }): Problem {
  switch (error.code ?? '') {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return problem('request-timeout', { cause: error });
    case 'HPE_HEADER_OVERFLOW':
      return problem('headers-too-large', { cause: error });
    default:
      return problem('malformed-request', {
        detail: `The request is not valid HTTP/1.1: ${error.reason ?? error.message}.`,
        cause: error,
      });
  }
}

/** Where node has no response to write to; the connection ends with it. */
function answerOnSocket(socket: Duplex, fault: Problem, others: Readonly<Record<string, string>>): void {
  socket.on('error', () => undefined);
  if (!socket.writable) return void socket.destroy();
  const { status, headers, body } = rendered(fault, others);
  const lines = Object.entries({ ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
}

function rendered(
  fault: Problem,
  others: Readonly<Record<string, string>>,
): { status: number; headers: Record<string, string>; body: string } {
  const requestId = newId();
  const body = JSON.stringify(renderProblem(fault, requestId));
  const headers = {
    'content-type': 'application/problem+json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestId,
    ...others,
  };
  return { status: fault.status, headers, body };
}
