import type { Dispatcher } from 'undici';
import { AnswerPace } from './answer-pace.ts';
import { ByteBlocks } from './byte-blocks.ts';
import { inTinyChunks } from './chunk-pace.ts';
import { describeFault, failedToConnect, isRefused } from './egress.ts';
import { handOver, turnBytes } from './hand-over.ts';
import { JsonOutline, maxNesting } from './json-outline.ts';
import { largeAnswers, smallAnswerBytes } from './large-answers.ts';

/** A request whose body fits in memory. `url` is absolute. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
  /** False where the body was seen to hold no number that JavaScript would change. */
  mayLoseDigits?: boolean;
}

/** Why there is no answer. `sent` says whether a byte of the request may have left. */
export interface TransportFault {
  kind: 'refused' | 'withheld' | 'connect' | 'timeout' | 'broken' | 'tooLarge' | 'aborted';
  sent: boolean;
  message: string;
}

export type HttpResult = { answer: HttpAnswer } | { fault: TransportFault };

export interface SendOptions {
  /** For the whole call, from connect to the last byte. */
  timeoutMs: number;
  maxAnswerBytes?: number;
  /** The status alone matters: of the body so many bytes are read, within so long after the status, and the rest is not waited for. */
  beginning?: { bytes: number; withinMs: number };
  signal?: AbortSignal;
  /** Whose call it is, of many to one origin: none takes all the room that large answers of it have. */
  whose?: string | undefined;
  /** Asked when the socket is there, right before the first byte; false withholds the request (docs/invariants.md, 14). */
  maySend?: (() => boolean) | undefined;
}

const defaultMaxAnswerBytes = 16 * 1024 * 1024;
/** The description of an object with hundreds of fields and options holds about ten thousand values. */
export const maxAnswerValues = 200_000;
/** Shorter texts cannot be nested too deep or hold too many values. */
const shortBytes = 2 * maxNesting;

/** Sends one request and reads the whole answer. Never throws for a fault of the network or the other side; never follows a redirect. */
export async function sendHttp(
  egress: Dispatcher,
  request: HttpRequest,
  options: SendOptions,
): Promise<HttpResult> {
  const url = URL.parse(request.url);
  if (!url || !/^https?:$/.test(url.protocol)) return fault('refused', false, 'not an http or https URL');
  if (url.username || url.password)
    return fault('refused', false, 'a URL with user information is not called');
  return new Promise((settle) => {
    const exchange = new Exchange(url.origin, options, settle);
    const call = {
      origin: url.origin,
      path: url.pathname + url.search,
      method: request.method,
      headers: request.headers ?? {},
      body: request.body ?? null,
    };
    try {
      egress.dispatch(call, exchange);
    } catch (error) {
      exchange.onResponseError(undefined, error);
    }
  });
}

/** One call: gathers the answer and keeps the limits. Settles once, by the first end; where that is a large answer, at its turn. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #origin: string;
  readonly #options: SendOptions;
  readonly #settle: (result: HttpResult) => void;
  readonly #timer: NodeJS.Timeout;
  #restTimer: NodeJS.Timeout | undefined;
  readonly #bytes = new ByteBlocks();
  readonly #pace = new AnswerPace();
  #outline: JsonOutline | undefined;
  /** Of an answer that is a large one. */
  #place: ReturnType<typeof largeAnswers.enter> | undefined;
  #status = 0;
  #headers: HttpAnswer['headers'] = {};
  #controller: Dispatcher.DispatchController | undefined;
  /** The request began to leave. */
  #sent = false;
  /** How it ends is known. */
  #isOver = false;
  /** Of an answer that waits for its turn. */
  #leaveTurn: (() => void) | undefined;

  constructor(origin: string, options: SendOptions, settle: (result: HttpResult) => void) {
    this.#origin = origin;
    this.#options = options;
    this.#settle = settle;
    const { timeoutMs, signal } = options;
    this.#timer = setTimeout(
      () => this.#stop('timeout', `no complete answer within ${timeoutMs} ms`),
      timeoutMs,
    );
    if (signal?.aborted) this.#abort();
    else signal?.addEventListener('abort', this.#abort, { once: true });
  }

  /** There is a socket. A call that was given up meanwhile is not sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#options.maySend?.() === false) this.#stop('withheld', 'the time to send it was over');
    if (this.#isOver) controller.abort(new Error('nobody waits for the answer'));
    else this.#sent = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: HttpAnswer['headers'],
  ): void {
    this.#status = status;
    this.#headers = headers;
    const { beginning } = this.#options;
    // One of 1xx comes before the answer.
    if (beginning && status >= 200) this.#restTimer = setTimeout(() => this.#enough(), beginning.withinMs);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { beginning, maxAnswerBytes: most = defaultMaxAnswerBytes } = this.#options;
    const size = this.#bytes.length + chunk.length;
    this.#pace.pass(controller, chunk.length);
    if (beginning) {
      this.#bytes.add(chunk);
      if (size > beginning.bytes) this.#enough();
      return;
    }
    if (size > most) return this.#stop('tooLarge', `the answer is larger than ${most} bytes`);
    if (this.#pace.isExceeded) return this.#stop('tooLarge', `the answer ${inTinyChunks}`);
    this.#bytes.add(chunk);
    if (size > smallAnswerBytes && !this.#place) this.#waitForRoom(controller);
    if (size > shortBytes) this.#weigh(chunk);
  }

  #waitForRoom(controller: Dispatcher.DispatchController): void {
    let goOn = (): void => undefined;
    this.#place = largeAnswers.enter(this.#origin, this.#options.whose, () => goOn());
    if (!this.#place.hasRoom) goOn = this.#pace.hold(controller);
  }

  /** Reading the answer holds the event loop, so its values are counted first. */
  #weigh(chunk: Buffer): void {
    const uncounted = this.#outline ? [chunk] : this.#bytes.parts();
    this.#outline ??= new JsonOutline(maxAnswerValues);
    for (const bytes of uncounted) {
      const excess = this.#outline.add(bytes);
      if (excess !== undefined) return this.#stop('tooLarge', `the answer ${excess}`);
    }
  }

  onResponseEnd(): void {
    if (!this.#end()) return;
    const tell = (): void => this.#tell({ answer: this.#answer() });
    if (this.#bytes.length > turnBytes) this.#leaveTurn = handOver.add(tell);
    else tell();
  }

  #answer(): HttpAnswer {
    const bytes = this.#bytes.whole();
    const body = bytes.toString('utf8', 0, this.#options.beginning?.bytes);
    const outlined = this.#outline ? { mayLoseDigits: this.#outline.mayLoseDigits } : {};
    return { status: this.#status, headers: this.#headers, body, ...outlined };
  }

  /** What was read is the answer. */
  #enough(): void {
    this.onResponseEnd();
    this.#controller?.abort(new Error('the rest of the answer is not wanted'));
  }

  onResponseError(_controller: unknown, error: unknown): void {
    if (this.#options.beginning && this.#status >= 200) this.onResponseEnd();
    this.#fail(explain(error, this.#sent));
  }

  readonly #abort = (): void => {
    const message = 'the call was given up';
    if (!this.#isOver) return this.#stop('aborted', message);
    this.#leaveTurn?.();
    this.#tell({ fault: { kind: 'aborted', sent: this.#sent, message } });
  };

  #stop(kind: TransportFault['kind'], message: string): void {
    this.#fail({ kind, sent: this.#sent, message });
    this.#controller?.abort(new Error(message));
  }

  #fail(why: TransportFault): void {
    // The status of an error says by itself what became of the call, when the rest of the answer is lost or too much to read.
    if (this.#status >= 400 && why.kind !== 'aborted') {
      if (why.kind === 'tooLarge') this.#bytes.clear();
      this.onResponseEnd();
    } else if (this.#end()) this.#tell({ fault: why });
  }

  /** False where it was over before. An answer that is here is not late any more, however long it waits for its turn. */
  #end(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#restTimer);
    return true;
  }

  #tell(result: HttpResult): void {
    // Not before: until then it takes memory.
    this.#place?.leave();
    this.#options.signal?.removeEventListener('abort', this.#abort);
    this.#settle(result);
  }
}

function fault(kind: TransportFault['kind'], sent: boolean, message: string): HttpResult {
  return { fault: { kind, sent, message } };
}

function explain(error: unknown, sent: boolean): TransportFault {
  const { message } = describeFault(error);
  if (isRefused(error)) return { kind: 'refused', sent: false, message };
  if (failedToConnect(error)) return { kind: 'connect', sent: false, message };
  return { kind: 'broken', sent, message };
}

/** The first value of a header, by its lower-case name. */
export function headerOf(answer: HttpAnswer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
