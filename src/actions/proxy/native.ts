import { request as openRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { pipeline, type Readable } from 'node:stream';
import type { buildConnector, Dispatcher } from 'undici';

export interface NativeCall {
  origin: string;
  method: string;
  path: string;
  /** Names and values in turn, as they are to be sent. */
  headers: string[];
  body: Readable;
  /** Names and values in turn, asked for when the body has ended. */
  trailers: () => string[];
  /** The provider said 100 Continue. */
  onContinue: () => void;
  /** Until the answer begins, and between two parts of it. */
  idleMs: number;
}

/**
 * Makes a call by node:http, on a connection of its own, if its request has trailers or expects 100 Continue, which
 * undici cannot send. Calls the handler as undici does.
 */
export function dispatchNatively(
  dial: buildConnector.connector,
  call: NativeCall,
  handler: Dispatcher.DispatchHandler,
): void {
  const exchange = new NativeExchange(call, handler);
  const { hostname, host, protocol, port } = new URL(call.origin);
  dial({ hostname, host, protocol, port }, (error, socket) => {
    if (error) exchange.abort(error);
    else exchange.begin(socket);
  });
}

/**
 * One call. No exception leaves it: every callback runs in `#safely`, and whatever can raise an
 * error event has a listener before it can. Ends once.
 */
class NativeExchange implements Dispatcher.DispatchController {
  readonly #call: NativeCall;
  readonly #handler: Dispatcher.DispatchHandler;
  #socket: Socket | undefined;
  #outgoing: ClientRequest | undefined;
  #answer: IncomingMessage | undefined;
  #isOver = false;
  reason: Error | null = null;
  rawHeaders?: string[];
  rawTrailers?: string[];

  constructor(call: NativeCall, handler: Dispatcher.DispatchHandler) {
    this.#call = call;
    this.#handler = handler;
    call.body.on('error', this.#fail);
  }

  get aborted(): boolean {
    return this.reason !== null;
  }

  get paused(): boolean {
    return this.#answer?.isPaused() ?? false;
  }

  pause(): void {
    this.#answer?.pause();
  }

  resume(): void {
    this.#answer?.resume();
  }

  /** There is a connection. A call that was given up meanwhile sends nothing on it. */
  begin(socket: Socket): void {
    this.#socket = socket;
    socket.on('error', this.#fail);
    if (this.#isOver) return this.#release();
    this.#safely(() => {
      this.#handler.onRequestStart?.(this, {});
      if (!this.#isOver) this.#send(socket);
    });
  }

  abort(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.reason = error;
    this.#release();
    this.#handler.onResponseError?.(this, error);
  }

  /** Ends the call before its answer. An answer that has begun reports its own end: it may be complete although sending failed. */
  readonly #fail = (error: Error): void => {
    if (!this.#answer) this.abort(error);
  };

  #send(socket: Socket): void {
    const { method, path, headers, body, idleMs, trailers, onContinue } = this.#call;
    const outgoing = openRequest({
      method,
      path,
      headers,
      setDefaultHeaders: false,
      createConnection: () => socket,
    });
    this.#outgoing = outgoing;
    // Of the answer; their bytes are bounded.
    outgoing.maxHeadersCount = 0;
    outgoing.on('error', this.#fail);
    outgoing.on('close', () => this.#fail(new Error('the connection ended before the answer')));
    outgoing.on('continue', () => this.#safely(onContinue));
    outgoing.on('information', ({ statusCode, statusMessage }) =>
      this.#safely(() => this.#handler.onResponseStart?.(this, statusCode, {}, statusMessage)),
    );
    outgoing.on('response', (answer) => this.#safely(() => this.#receive(answer)));
    // A slow caller does not count as a silent provider.
    socket.setTimeout(idleMs, () => {
      if (!this.paused) this.abort(silence());
    });
    outgoing.flushHeaders();
    body.once('end', () => this.#safely(() => outgoing.addTrailers(pairsOf(trailers()))));
    // The body or the request reports the same error.
    pipeline(body, outgoing, () => undefined);
  }

  #receive(answer: IncomingMessage): void {
    const handler = this.#handler;
    this.#answer = answer;
    this.rawHeaders = answer.rawHeaders;
    answer.on('error', (error) => this.abort(error));
    answer.on('close', () => {
      if (!answer.readableEnded) this.abort(new Error('the answer was cut short'));
    });
    answer.on('data', (chunk: Buffer) =>
      this.#safely(() => {
        if (!this.#isOver) handler.onResponseData?.(this, chunk);
      }),
    );
    answer.on('end', () => {
      if (this.#isOver) return;
      this.rawTrailers = answer.rawTrailers;
      this.#safely(() => handler.onResponseEnd?.(this, {}));
      this.#isOver = true;
      this.#release();
    });
    // As undici tells it: read as UTF-8.
    const phrase = Buffer.from(answer.statusMessage ?? '', 'latin1').toString('utf8');
    handler.onResponseStart?.(this, answer.statusCode ?? 0, {}, phrase);
  }

  #safely(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.abort(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /** Releases everything; the rest of the caller's body is read and dropped. */
  #release(): void {
    this.#outgoing?.destroy();
    this.#socket?.destroy();
    this.#call.body.destroy();
  }
}

function silence(): Error {
  return Object.assign(new Error('the provider was silent for too long'), { code: 'SVC_IDLE_TIMEOUT' });
}

function pairsOf(flat: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let i = 0; i < flat.length; i += 2) pairs.push([flat[i] ?? '', flat[i + 1] ?? '']);
  return pairs;
}
