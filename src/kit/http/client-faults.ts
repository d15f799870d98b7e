import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { newId } from '../ids.ts';
import { problem, renderProblem, type Problem } from '../problem.ts';
import { breakageOn, endAfter, watchConnections } from './broken-connection.ts';

/** What node answers by itself, or not at all, before a request reaches the router: as problems, too. */
export function answerClientFaults(server: Server, headers: Readonly<Record<string, string>>): void {
  watchConnections(server);
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
  socket: Duplex,
  headers: Readonly<Record<string, string>>,
): void {
  const breakage = breakageOn(socket);
  if (error.code === 'ECONNRESET' || breakage.kind === 'answered') socket.destroy();
  else if (breakage.kind === 'behind') endAfter(breakage.response, socket);
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
