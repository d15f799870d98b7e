import { STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { newId } from '../ids.ts';
import type { Logger } from '../log.ts';
import { problem, renderProblem, type Problem } from '../problem.ts';
import { breakageOn, endAfter, watchConnections } from './broken-connection.ts';

/** Headers of every such answer, and its log. */
interface Surroundings {
  headers: Readonly<Record<string, string>>;
  log: Logger;
}

/** Answers with a problem what node would answer by itself, or not at all, before the router. */
export function answerClientFaults(server: Server, around: Surroundings): void {
  watchConnections(server);
  server.on('checkExpectation', ({ headers: { expect } }: IncomingMessage, response: ServerResponse) => {
    const detail = `The expectation ${expect} is not known.`;
    const answer = rendered(problem('expectation-failed', { detail }), around);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  server.on('connect', ({ url }: IncomingMessage, socket: Duplex) => {
    answerOnSocket(socket, problem('route-not-found', { detail: `There is no CONNECT ${url}.` }), around);
  });
}

/** Answers what node's parser refuses. */
export function answerUnreadable(
  error: Error & { code?: string },
  socket: Duplex,
  around: Surroundings,
): void {
  const breakage = breakageOn(socket);
  if (error.code === 'ECONNRESET' || breakage.kind === 'answered') socket.destroy();
  else if (breakage.kind === 'behind') endAfter(breakage.response, socket);
  else answerOnSocket(socket, unreadable(error), around);
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
function answerOnSocket(socket: Duplex, fault: Problem, around: Surroundings): void {
  socket.on('error', () => undefined);
  if (!socket.writable) return void socket.destroy();
  const { status, headers, body } = rendered(fault, around);
  const lines = Object.entries({ ...headers, connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
}

function rendered(
  fault: Problem,
  { headers: others, log }: Surroundings,
): { status: number; headers: Record<string, string>; body: string } {
  const requestId = newId();
  log.info({ requestId, status: fault.status, problem: fault.code }, 'refused');
  const body = JSON.stringify(renderProblem(fault, requestId));
  const headers = {
    'content-type': 'application/problem+json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestId,
    ...others,
  };
  return { status: fault.status, headers, body };
}
