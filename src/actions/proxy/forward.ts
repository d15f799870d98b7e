import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { dialerOf } from '../../kit/http/egress.ts';
import { Answer, type AnswerRules, type ForwardEnd } from './answer.ts';
import type { OutgoingBody } from './body.ts';
import { framedByChunks, framedByLength, requestHeaders, trailersOf } from './headers.ts';
import { dispatchNatively } from './native.ts';

/** Where a call goes, with what credential and what body. */
export interface Upstream {
  origin: string;
  headers: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, string>> | undefined;
  body: OutgoingBody;
}

export interface ForwardOptions {
  egress: Dispatcher;
  /** Until the provider's answer begins, and between two parts of its body. */
  idleMs: number;
  /** From when it is sent until its answer has ended; a repetition has its own. */
  totalMs: number;
  /** Sent by node:http, since undici cannot send it. */
  isNative: boolean;
  /** The caller waits for 100 Continue before it sends its body. */
  expectsContinue: boolean;
  rules: AnswerRules;
}

/** Sends the call as it came, with the host replaced, and streams the answer back. Never rejects. */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  upstream: Upstream,
  options: ForwardOptions,
): Promise<ForwardEnd> {
  return new Promise((settle) => {
    const answer = new Answer(response, options.rules, (end) => {
      clearTimeout(timer);
      settle(end);
    });
    const timer = setTimeout(() => answer.stop(tooLong(options.totalMs)), options.totalMs);
    try {
      dispatch(request, response, upstream, options, answer);
    } catch (error) {
      answer.fail(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

function dispatch(
  request: IncomingMessage,
  response: ServerResponse,
  upstream: Upstream,
  { egress, idleMs, isNative, expectsContinue }: ForwardOptions,
  answer: Answer,
): void {
  const { origin, headers, query, body } = upstream;
  const path = withQuery(request.url ?? '/', query);
  const method = request.method ?? 'GET';
  // A repeated body is in memory, without trailers and without Expect.
  if (isNative && body !== null && !Buffer.isBuffer(body)) {
    const own = ['Host', new URL(origin).host, 'Connection', 'close'];
    const keep = request.headers['transfer-encoding'] === undefined ? framedByLength : framedByChunks;
    const call = {
      origin,
      path,
      method,
      body,
      headers: [...own, ...requestHeaders(request.rawHeaders, headers, keep)],
      trailers: () => trailersOf(request.rawTrailers),
      onContinue: () => {
        if (expectsContinue && !response.headersSent) response.writeContinue();
      },
      idleMs,
    };
    dispatchNatively(dialerOf(egress), call, answer);
    return;
  }
  egress.dispatch(
    // No spread here: each member after one costs half a microsecond a call.
    {
      origin,
      path,
      method,
      body,
      headers: requestHeaders(request.rawHeaders, headers),
      headersTimeout: idleMs,
      bodyTimeout: idleMs,
    },
    answer,
  );
}

function tooLong(totalMs: number): Error {
  return Object.assign(new Error(`the call took longer than ${totalMs} ms`), { code: 'SVC_TOTAL_TIMEOUT' });
}

function withQuery(target: string, query: Readonly<Record<string, string>> | undefined): string {
  if (!query || Object.keys(query).length === 0) return target;
  return target + (target.includes('?') ? '&' : '?') + new URLSearchParams(query).toString();
}
