import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { isDatabaseAway, isOutage } from '../db/faults.ts';
import type { Logger } from '../log.ts';
import { renderProblem, type Problem } from '../problem.ts';
import { endForGood } from './linger.ts';

export interface ProblemAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A problem as an HTTP answer, for where no framework stands between us and node. */
export function answerOf(fault: Problem, requestId: string): ProblemAnswer {
  const body = JSON.stringify(renderProblem(fault, requestId));
  const waitSeconds =
    fault.details.retryAfterSeconds ?? (isDatabaseAway(fault) && fault.retryable ? 2 : undefined);
  return {
    status: fault.status,
    headers: {
      'Content-Type': 'application/problem+json; charset=utf-8',
      'Content-Length': String(Buffer.byteLength(body)),
      ...(waitSeconds === undefined ? {} : { 'Retry-After': String(Math.ceil(waitSeconds)) }),
    },
    body,
  };
}

/** Statuses that tell of what was asked for and is not done here, and of somebody whom we called. */
const notOurs: ReadonlySet<number> = new Set([501, 502, 504]);

/** A line for a fault of ours, with its cause. An outage of the database has its own; the request's line names the problem. */
export function tellFault(log: Pick<Logger, 'error'>, answer: Problem, about: Record<string, unknown>): void {
  if (answer.status < 500 || notOurs.has(answer.status) || isOutage(answer)) return;
  // Told once, when it was found out.
  if (answer.code === 'restored') return;
  log.error({ ...about, err: answer.cause ?? answer, problem: answer.code }, answer.message);
}

/** Sends it on a bare socket, where node has no response to write to. Ends the connection. */
export function answerOnSocket(socket: Duplex, { status, headers, body }: ProblemAnswer): void {
  socket.on('error', () => undefined);
  if (!socket.writable) return void socket.destroy();
  const lines = Object.entries({ ...headers, Connection: 'close' }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  endForGood(socket, [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n'));
}
