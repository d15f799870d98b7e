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
export function answerUnreadable(error: ParserError, socket: Duplex, around: Surroundings): void {
  const breakage = breakageOn(socket);
  if (error.code === 'ECONNRESET' || breakage.kind === 'answered') socket.destroy();
  else if (breakage.kind === 'behind') endAfter(breakage.response, socket);
  else if (breakage.kind === 'body' && breakage.before) {
    if (waiting.has(socket)) return;
    waiting.add(socket);
    breakage.before.once('close', () => answerUnreadable(error, socket, around));
  } else answerOnSocket(socket, rendered(unreadable(error), around));
}

function unreadable(error: ParserError): Problem {
  switch (error.code ?? '') {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return problem('request-timeout', { cause: error });
    case 'HPE_HEADER_OVERFLOW':
      return problem('headers-too-large', { cause: error });
    default: {
      const { fault, remedy } = unreadableHead(error);
      const detail = `The request is not valid HTTP/1.1: ${fault}.`;
      return problem('malformed-request', { detail, ...(remedy ? { remedy } : {}), cause: error });
    }
  }
}

/** As node:http gives it to `clientError`; `reason` is the parser's. */
export type ParserError = Error & { code?: string; reason?: string };

/** What node's parser found, in words, and what helps where that is more than another client. */
export function unreadableHead({ code, reason, message }: ParserError): { fault: string; remedy?: string } {
  // After a blank in the target it looks for the version.
  const isTarget = code === 'HPE_INVALID_URL' || reason?.startsWith('Expected HTTP/') === true;
  if (!isTarget) return { fault: reason ?? message };
  return {
    fault: 'the path or the query holds a character that cannot stand there as it is',
    remedy: 'Percent-encode the values in the path and the query, blanks and what is not ASCII included.',
  };
}

function rendered(fault: Problem, { headers: others, log }: Surroundings): ProblemAnswer {
  const requestId = newId();
  log.info({ requestId, status: fault.status, problem: fault.code }, 'refused');
  const answer = answerOf(fault, requestId);
  return { ...answer, headers: { ...answer.headers, 'X-Request-Id': requestId, ...others } };
}
