import { STATUS_CODES, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { isDatabaseAway } from '../../kit/db/database.ts';
import { describeFault, isRefused } from '../../kit/http/egress.ts';
import type { Logger } from '../../kit/log.ts';
import { Problem, problem, renderProblem } from '../../kit/problem.ts';

/** Answers with a problem of ours, which says so (contract, Proxy). `extra`: names and values in turn. */
export function answerProblem(
  log: Logger,
  response: ServerResponse,
  answer: Problem,
  requestId: string,
  extra: readonly string[] = [],
): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  if (answer.status >= 500) {
    log.error(
      { err: answer.cause ?? answer, requestId, problem: answer.code, surface: 'proxy' },
      answer.message,
    );
  }
  const { headers, body } = rendered(answer, requestId);
  // The phrase, too: one that was refused may still stand in the response.
  response.writeHead(answer.status, STATUS_CODES[answer.status], [...headers, ...extra]);
  response.end(response.req.method === 'HEAD' ? undefined : body);
}

/** The same where node has no response to write to; the connection ends with it. */
export function answerOnSocket(socket: Duplex, answer: Problem, requestId: string): void {
  if (!socket.writable) return void socket.destroy();
  const { headers, body } = rendered(answer, requestId);
  const lines = [`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`, 'Connection: close'];
  for (let i = 0; i < headers.length; i += 2) lines.push(`${headers[i]}: ${headers[i + 1]}`);
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

function rendered(answer: Problem, requestId: string): { headers: string[]; body: string } {
  const body = JSON.stringify(renderProblem(answer, requestId));
  const retryAfter = answer.details.retryAfterSeconds ?? (isDatabaseAway(answer) ? 2 : undefined);
  const headers = ['Content-Type', 'application/problem+json; charset=utf-8'];
  headers.push('Content-Length', String(Buffer.byteLength(body)));
  headers.push('X-Svc-Problem', answer.code, 'X-Svc-Request-Id', requestId);
  if (retryAfter !== undefined) headers.push('Retry-After', String(Math.ceil(retryAfter)));
  return { headers, body };
}

/** The problem of a call that the provider did not answer. */
export function problemOfFault(error: Error): Problem {
  if (error instanceof Problem) return error;
  const { code, message } = describeFault(error);
  if (isRefused(error)) return problem('egress-refused', { detail: message, cause: error });
  if (/TIMEOUT|ETIMEDOUT/.test(code)) return problem('provider-timeout', { cause: error });
  return problem('provider-unreachable', {
    detail: `The provider cannot be reached: ${message}.`,
    cause: error,
  });
}
