import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { replayLimitBytes, type OutgoingBody } from './body.ts';
import { rawPairs, requestHeaders, responseHeaders } from './headers.ts';

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
  requestId: string;
  /** Keep a small 401 back, so that the call can be made again with a new token. */
  holdRejection: boolean;
}

/** How a forwarded call ended. `rejected`: the provider said 401 and nothing was passed on yet. */
export type ForwardEnd =
  | { kind: 'answered'; status: number }
  | { kind: 'rejected'; passOn(): void }
  | { kind: 'failed'; error: Error; answerBegan: boolean };

/** Sends the call as it came, with the host replaced, and streams the answer back. Never rejects. */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  upstream: Upstream,
  options: ForwardOptions,
): Promise<ForwardEnd> {
  return new Promise((settle) => {
    const answer = new Answer(response, options, settle);
    try {
      options.egress.dispatch(
        {
          origin: upstream.origin,
          path: withQuery(request.url ?? '/', upstream.query),
          method: request.method ?? 'GET',
          headers: requestHeaders(request.rawHeaders, upstream.headers),
          body: upstream.body as Dispatcher.DispatchOptions['body'],
          headersTimeout: options.idleMs,
          bodyTimeout: options.idleMs,
        },
        answer,
      );
    } catch (error) {
      answer.fail(error instanceof Error ? error : new Error(String(error)));
    }
  });
}

function withQuery(target: string, query: Readonly<Record<string, string>> | undefined): string {
  if (!query || Object.keys(query).length === 0) return target;
  return target + (target.includes('?') ? '&' : '?') + new URLSearchParams(query).toString();
}

/** Passes the provider's answer on as it arrives. */
class Answer implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;
  readonly #options: ForwardOptions;
  readonly #settle: (end: ForwardEnd) => void;
  #held: { head(): void; chunks: Buffer[]; size: number } | undefined;
  #status = 0;

  constructor(response: ServerResponse, options: ForwardOptions, settle: (end: ForwardEnd) => void) {
    this.#response = response;
    this.#options = options;
    this.#settle = settle;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const response = this.#response;
    const leave = (): void => controller.abort(new Error('the caller has left'));
    if (response.destroyed) leave();
    else response.once('close', () => response.writableFinished || leave());
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    message?: string,
  ): void {
    if (status < 200) return;
    this.#status = status;
    const headers = responseHeaders(rawPairs(controller.rawHeaders));
    headers.push('X-Svc-Request-Id', this.#options.requestId);
    const head = (): void => {
      this.#response.writeHead(status, message ?? '', headers);
    };
    if (status === 401 && this.#options.holdRejection) this.#held = { head, chunks: [], size: 0 };
    else head();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#held) {
      this.#held.chunks.push(chunk);
      this.#held.size += chunk.length;
      if (this.#held.size > replayLimitBytes) this.#release();
      return;
    }
    if (this.#response.write(chunk)) return;
    controller.pause();
    this.#response.once('drain', () => controller.resume());
  }

  onResponseEnd(): void {
    if (this.#held) {
      this.#settle({
        kind: 'rejected',
        passOn: () => {
          this.#release();
          this.#response.end();
        },
      });
      return;
    }
    this.#response.end();
    this.#settle({ kind: 'answered', status: this.#status });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  fail(error: Error): void {
    const answerBegan = this.#response.headersSent;
    // A body cut short must look cut short to the caller, too.
    if (answerBegan) this.#response.destroy();
    this.#settle({ kind: 'failed', error, answerBegan });
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    held?.head();
    for (const chunk of held?.chunks ?? []) this.#response.write(chunk);
  }
}
