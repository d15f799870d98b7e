import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { newId } from '../ids.ts';
import type { Logger } from '../log.ts';
import { problem, type Problem } from '../problem.ts';
import { afterAnswers, breakageOn, endAfter } from './broken-connection.ts';
import { guardConnections } from './guard.ts';
import { expectsMore } from './request-head.ts';
import { answerOf, answerOnSocket, type ProblemAnswer } from './problem-answer.ts';

/** Headers of every such answer, and its log. */
interface Surroundings {
  headers: Readonly<Record<string, string>>;
  log: Logger;
}

/** Answers with a problem what node would answer by itself, or not at all, before the router. */
export function answerClientFaults(server: Server, around: Surroundings): void {
  guardConnections(server);
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (expectsMore(request)) return server.emit('checkExpectation', request, response);
    // Once the body is wanted: whoever is refused before that need not send it.
    request.once('resume', () => {
      if (!response.headersSent) response.writeContinue();
    });
    return server.emit('request', request, response);
  });
  server.on('checkExpectation', ({ headers: { expect } }: IncomingMessage, response: ServerResponse) => {
    const detail = `The expectation ${expect} is not known.`;
    const answer = rendered(problem('expectation-failed', { detail }), around);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  server.on('connect', ({ url }: IncomingMessage, socket: Duplex) => {
    const fault = problem('route-not-found', { detail: `There is no CONNECT ${url}.` });
    afterAnswers(socket, () => answerOnSocket(socket, rendered(fault, around)));
  });
}

/** Those whose refusal waits for an answer before it. A parser that has failed once fails again with every further byte. */
const waiting = new WeakSet<Duplex>();

/** Answers what node's parser refuses. */
export function answerUnreadable(
  error: Error & { code?: string },
  socket: Duplex,
  around: Surroundings,
): void {
  const breakage = breakageOn(socket);
  if (error.code === 'ECONNRESET' || breakage.kind === 'answered') socket.destroy();
  else if (breakage.kind === 'behind') endAfter(breakage.response, socket);
  else if (breakage.kind === 'body' && breakage.before) {
    if (waiting.has(socket)) return;
    waiting.add(socket);
    breakage.before.once('close', () => answerUnreadable(error, socket, around));
  } else answerOnSocket(socket, rendered(unreadable(error), around));
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

function rendered(fault: Problem, { headers: others, log }: Surroundings): ProblemAnswer {
  const requestId = newId();
  log.info({ requestId, status: fault.status, problem: fault.code }, 'refused');
  const answer = answerOf(fault, requestId);
  return { ...answer, headers: { ...answer.headers, 'X-Request-Id': requestId, ...others } };
}
