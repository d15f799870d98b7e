import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { describeFault, failedToConnect, isRefused } from '../../kit/http/egress.ts';
import { answerOf, answerOnSocket, tellFault, type ProblemAnswer } from '../../kit/http/problem-answer.ts';
import { newId } from '../../kit/ids.ts';
import type { Logger } from '../../kit/log.ts';
import { Problem, problem } from '../../kit/problem.ts';

/** Answers with a problem of ours; `X-Svc-Problem` says that it is ours. `extra`: names and values in turn. */
export function answerProblem(
  log: Logger,
  response: ServerResponse,
  answer: Problem,
  requestId: string,
  extra: readonly string[] = [],
): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  tellFault(log, answer, { requestId, surface: 'proxy' });
  const { headers, body } = proxyAnswer(answer, requestId);
  const names = [...Object.entries(headers).flat(), ...extra];
  // Also sets the phrase: the provider's may still stand in the response.
  response.writeHead(answer.status, STATUS_CODES[answer.status], names);
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

/** The same on a bare socket, where node has no response. Ends the connection. */
export function refuseOnSocket(log: Logger, socket: Duplex, answer: Problem): void {
  const requestId = newId();
  if (socket.writable) tellRefusal(log, answer, requestId);
  answerOnSocket(socket, proxyAnswer(answer, requestId));
}

/** The line of a call that was refused before its target was known. */
export function tellRefusal(log: Logger, answer: Problem, requestId: string): void {
  log.info({ requestId, surface: 'proxy', status: answer.status, problem: answer.code }, 'refused');
}

function proxyAnswer(answer: Problem, requestId: string): ProblemAnswer {
  const plain = answerOf(answer, requestId);
  const ours = { 'X-Svc-Problem': answer.code, 'X-Svc-Request-Id': requestId };
  return { ...plain, headers: { ...plain.headers, ...ours } };
}

// Idempotent methods (RFC 9110, 9.2.2).
const idempotent = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'QUERY']);

/** The problem of a call that the provider did not answer. Whether it may be made again follows from what may have been sent. */
export function problemOfFault(error: Error, method: string): Problem {
  if (error instanceof Problem) return error;
  const { code, message } = describeFault(error);
  if (isRefused(error)) return problem('egress-refused', { detail: message, cause: error });
  const isSent = !failedToConnect(error);
  const told = { retryable: !isSent || idempotent.has(method), cause: error };
  if (/TIMEOUT|ETIMEDOUT/.test(code)) {
    const detail = 'Connecting to the provider took too long; nothing was sent.';
    return problem('provider-timeout', { ...told, ...(isSent ? {} : { detail }) });
  }
  const detail = isSent
    ? `The provider’s answer was lost: ${message}. What was asked for may be done.`
    : `The provider cannot be reached: ${message}. Nothing was sent.`;
  return problem('provider-unreachable', { ...told, detail });
}
