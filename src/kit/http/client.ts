import type { Dispatcher } from 'undici';
import { EgressRefused, failedToConnect } from './egress.ts';

/** A request whose body fits in memory. `url` is absolute and was built from the catalogue, never from a caller's text alone. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  headers?: Record<string, string>;
  body?: string;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Why there is no answer. `sent` says whether a byte of the request may have left (reliability 1.1). */
export interface TransportFault {
  kind: 'refused' | 'connect' | 'timeout' | 'broken' | 'tooLarge' | 'aborted';
  sent: boolean;
  message: string;
}

export type HttpResult = { answer: HttpAnswer } | { fault: TransportFault };

export interface SendOptions {
  /** For the whole call, from connect to the last byte. */
  timeoutMs: number;
  maxAnswerBytes?: number;
  signal?: AbortSignal;
}

const defaultMaxAnswerBytes = 32 * 1024 * 1024;

/** Sends one request and reads the whole answer. Never throws for what the network or the other side does; never follows a redirect. */
export async function sendHttp(
  egress: Dispatcher,
  request: HttpRequest,
  options: SendOptions,
): Promise<HttpResult> {
  const url = URL.parse(request.url);
  if (!url || !/^https?:$/.test(url.protocol)) return fault('refused', false, 'not an http or https URL');
  if (url.username || url.password)
    return fault('refused', false, 'a URL with user information is not called');
  const limit = limitOf(options);
  try {
    const response = await egress.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: request.method,
      headers: request.headers ?? {},
      body: request.body ?? null,
      signal: limit.signal,
    });
    return await readAnswer(response, options.maxAnswerBytes ?? defaultMaxAnswerBytes);
  } catch (error) {
    return { fault: explain(error, limit.isOver(), options) };
  } finally {
    limit.lift();
  }
}

/** A signal for one call. By hand: `AbortSignal.timeout` with `any` takes 10 µs more and leaves 2 KB that outlive the call. */
function limitOf({ timeoutMs, signal }: SendOptions): {
  signal: AbortSignal;
  isOver(): boolean;
  lift(): void;
} {
  const controller = new AbortController();
  let isOver = false;
  const timer = setTimeout(() => {
    isOver = true;
    controller.abort();
  }, timeoutMs);
  const abort = (): void => controller.abort();
  if (signal?.aborted) abort();
  else signal?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    isOver: () => isOver,
    lift() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    },
  };
}

async function readAnswer(response: Dispatcher.ResponseData, limit: number): Promise<HttpResult> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) {
      response.body.destroy();
      return fault('tooLarge', true, `the answer is larger than ${limit} bytes`);
    }
    chunks.push(chunk);
  }
  return {
    answer: {
      status: response.statusCode,
      headers: response.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    },
  };
}

function fault(kind: TransportFault['kind'], sent: boolean, message: string): HttpResult {
  return { fault: { kind, sent, message } };
}

function explain(error: unknown, timedOut: boolean, options: SendOptions): TransportFault {
  const message = error instanceof Error ? error.message || error.name : String(error);
  if (findCause(error, (cause) => cause instanceof EgressRefused))
    return { kind: 'refused', sent: false, message };
  if (failedToConnect(error)) return { kind: 'connect', sent: false, message };
  if (timedOut)
    return { kind: 'timeout', sent: true, message: `no complete answer within ${options.timeoutMs} ms` };
  if (options.signal?.aborted) return { kind: 'aborted', sent: true, message };
  return { kind: 'broken', sent: true, message };
}

function findCause(error: unknown, test: (cause: Error) => boolean): boolean {
  return error instanceof Error && (test(error) || findCause(error.cause, test));
}

/** The first value of a header, by its lower-case name. */
export function headerOf(answer: HttpAnswer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
