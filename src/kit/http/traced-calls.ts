import type { Dispatcher } from 'undici';
import { startSpan, toldHeaders, type Span } from '../trace.ts';

/** What tells another service of a trace. Of a caller's own, none goes further than svc unless the operator says so. */
const traceHeaders = new Set(['traceparent', 'tracestate', 'baggage']);

type Headers = Dispatcher.DispatchOptions['headers'];

/** A span for each call. Its path may hold ids of records and is not noted. */
export const tracedCalls: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const { host, hostname, port, protocol } = new URL(String(options.origin));
  const span = startSpan({
    name: options.method,
    kind: 'client',
    attributes: {
      'http.request.method': options.method,
      'server.address': hostname,
      'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
    },
  });
  if (!span) return dispatch(options, handler);
  const headers = withTrace(options.headers, toldHeaders(span, host));
  return dispatch({ ...options, headers }, new TracedCall(handler, span));
};

function withTrace(headers: Headers, told: Record<string, string>): Headers {
  const own = Object.entries(told);
  if (Array.isArray(headers)) {
    const kept = headers.filter(
      (_part, at) => !traceHeaders.has(String(headers[at - (at % 2)]).toLowerCase()),
    );
    return [...kept, ...own.flat()];
  }
  const pairs = Object.entries((headers ?? {}) as Record<string, string>);
  return Object.fromEntries([...pairs.filter(([name]) => !traceHeaders.has(name.toLowerCase())), ...own]);
}

/** Passes everything on, and ends the span with the answer. */
class TracedCall implements Dispatcher.DispatchHandler {
  readonly #handler: Dispatcher.DispatchHandler;
  readonly #span: Span;

  constructor(handler: Dispatcher.DispatchHandler, span: Span) {
    this.#handler = handler;
    this.#span = span;
  }

  onRequestStart(controller: Dispatcher.DispatchController, context: unknown): void {
    this.#handler.onRequestStart?.(controller, context);
  }

  onRequestUpgrade(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onRequestUpgrade']>>): void {
    this.#handler.onRequestUpgrade?.(...given);
  }

  onResponseStart(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>): void {
    this.#span.note({ 'http.response.status_code': given[1] });
    this.#handler.onResponseStart?.(...given);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#handler.onResponseData?.(controller, chunk);
  }

  onResponseEnd(...given: Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseEnd']>>): void {
    this.#span.end();
    this.#handler.onResponseEnd?.(...given);
  }

  onResponseError(controller: Dispatcher.DispatchController, error: Error): void {
    this.#span.end((error as NodeJS.ErrnoException).code ?? error.name);
    this.#handler.onResponseError?.(controller, error);
  }
}
