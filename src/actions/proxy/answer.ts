import type { ServerResponse } from 'node:http';
import type { Dispatcher } from 'undici';
import { AnswerPace } from '../../kit/http/answer-pace.ts';
import { ByteBlocks } from '../../kit/http/byte-blocks.ts';
import type { HttpAnswer } from '../../kit/http/client.ts';
import type { Quota, QuotaNames } from '../../connections/index.ts';
import { replayLimitBytes } from './body.ts';
import {
  asRecord,
  isChunkedOnly,
  rawPairs,
  readAnswerHead,
  trailersOf,
  withoutHeader,
  withoutQueryKeys,
  type AnswerHead,
} from './headers.ts';
import { lookBytes, readableStart } from './throttle.ts';

/** What the proxy does with an answer besides passing it on. */
export interface AnswerRules {
  requestId: string;
  /** Holds a small 401 back, so that the call can be repeated with a new token. */
  holdRejection: boolean;
  quotaNames: QuotaNames | undefined;
  /** The credential that we put into the query of the call; a header of the answer may repeat it. */
  query: Readonly<Record<string, string>> | undefined;
  /** The provider's answer has begun. */
  onBegin(): void;
  /** The headers that tell the caller the quota. */
  onQuota(quota: Quota): string[];
  /** Whether the body decides if an answer of this status reports a limit. */
  bodyDecides(status: number): boolean;
  /** Decides if an answer reports a limit; returns the headers for the caller, if any. */
  judge(answer: HttpAnswer): string[];
  /** Throttle mode: the head waits for these headers. */
  isThrottled: boolean;
}

/** How a forwarded call ended. `rejected`: the provider said 401 and nothing was passed on yet. */
export type ForwardEnd =
  | { kind: 'answered'; status: number }
  | { kind: 'rejected'; passOn(): void }
  | { kind: 'failed'; error: Error; answerBegan: boolean };

/** What `writeHead` takes. */
interface Head {
  status: number;
  phrase: string;
  headers: string[];
}

interface Look {
  status: number;
  pairs: string[];
  bytes: ByteBlocks;
  /** Parts that wait until the body was looked at. Empty when it is only watched. */
  begin: ((extra: string[]) => void) | undefined;
}

/** No provider has reason to send more. Without a limit they could keep a call alive for ever. */
const mostInterim = 100;

/** How long a head waits for the first byte behind it. */
const headPatienceMs = 20;

/** Passes the provider's answer on as it arrives. */
export class Answer implements Dispatcher.DispatchHandler {
  readonly #response: ServerResponse;
  readonly #rules: AnswerRules;
  readonly #settle: (end: ForwardEnd) => void;
  /** A 401 that is kept back. */
  #held: { begin(): void; bytes: ByteBlocks } | undefined;
  #look: Look | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  readonly #pace = new AnswerPace();
  /** What came in one read and is passed on together: each piece costs a write. */
  readonly #together = new ByteBlocks();
  /** The caller reads more slowly than the provider sends. */
  #isFull = false;
  /**
   * Waits for the first byte behind it: broken framing there is still told as a 502. Not as a function: V8 places one that is
   * assigned to a member among the old objects, where it keeps all of the call until a full collection.
   */
  #head: Head | undefined;
  #status = 0;
  #interim = 0;
  #trailers = false;
  #settled = false;

  constructor(response: ServerResponse, rules: AnswerRules, settle: (end: ForwardEnd) => void) {
    this.#response = response;
    this.#rules = rules;
    this.#settle = settle;
    // From the beginning: a caller may leave while the provider is dialled.
    response.once('close', this.#onLeave);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled || this.#response.destroyed) controller.abort(new Error('nobody waits for the answer'));
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    message?: string,
  ): void {
    if (status < 200) {
      this.#interim += 1;
      if (this.#interim > mostInterim) controller.abort(new Error('too many interim answers'));
      return;
    }
    this.#status = status;
    this.#rules.onBegin();
    const pairs = rawPairs(controller.rawHeaders);
    const head = readAnswerHead(pairs, this.#rules.quotaNames);
    if (head.coding !== undefined && !isChunkedOnly(head.coding)) {
      controller.abort(new Error(`the transfer coding ${head.coding} is not supported`));
      return;
    }
    const phrase = asBytes(message ?? '');
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(phrase)) {
      controller.abort(new Error('the reason phrase holds a control character'));
      return;
    }
    const begin = (extra: string[]): void => this.#begin(status, phrase, head, extra);
    if (status === 401 && this.#rules.holdRejection) {
      this.#held = { begin: () => begin([]), bytes: new ByteBlocks() };
    } else if (status === 429 || this.#rules.bodyDecides(status)) this.#startLook(status, pairs, begin);
    else begin([]);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#pace.pass(controller, chunk.length);
    const held = this.#held?.bytes;
    if (held) {
      held.add(chunk);
      if (held.length > replayLimitBytes) this.#release();
      return;
    }
    const look = this.#look;
    if (look) {
      look.bytes.add(chunk);
      const waits = look.begin !== undefined;
      if (look.bytes.length >= lookBytes) this.#endLook();
      if (waits) return;
    }
    if (this.#together.length === 0) queueMicrotask(() => this.#passTogether());
    this.#together.add(chunk);
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    if (this.#held) {
      this.#end({
        kind: 'rejected',
        passOn: () => {
          this.#release();
          this.#finish(controller);
        },
      });
      return;
    }
    this.#endLook();
    this.#finish(controller);
    this.#end({ kind: 'answered', status: this.#status });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  /** Ends the call from our side. */
  stop(error: Error): void {
    if (this.#settled) return;
    if (this.#controller) this.#controller.abort(error);
    else this.fail(error);
  }

  /** Never throws: its caller could not handle it. */
  fail(error: Error): void {
    if (this.#settled) return;
    this.#try(() => this.#endLook());
    this.#head = undefined;
    this.#together.clear();
    const answerBegan = this.#response.headersSent;
    // The caller must see that the body was cut short.
    if (answerBegan) this.#response.destroy();
    this.#end({ kind: 'failed', error, answerBegan });
  }

  #end(end: ForwardEnd): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#response.off('close', this.#onLeave);
    this.#settle(end);
  }

  readonly #onLeave = (): void => {
    if (!this.#response.writableFinished) this.stop(new Error('the caller has left'));
  };

  /** Catches what the function throws; false when it did. */
  #try(step: () => void): boolean {
    try {
      step();
      return true;
    } catch {
      return false;
    }
  }

  #begin(status: number, phrase: string, head: AnswerHead, extra: string[]): void {
    const { quota, trailer, hasLength } = head;
    const headers = this.#passing(status, head);
    if (quota) headers.push(...this.#rules.onQuota(quota));
    headers.push(...extra, 'X-Svc-Request-Id', this.#rules.requestId);
    const { req } = this.#response;
    const hasBody = req.method !== 'HEAD' && status !== 204 && status !== 304;
    // Trailers need chunks: this hop has them where the provider's had, unless the caller speaks HTTP/1.0.
    this.#trailers = hasBody && !hasLength && req.httpVersion === '1.1';
    if (this.#trailers && trailer !== undefined) headers.push('Trailer', trailer);
    this.#head = { status, phrase, headers };
    // After the part that came with the head was read.
    queueMicrotask(() => {
      if (this.#head && this.#together.length === 0) setTimeout(() => this.#showHead(), headPatienceMs);
    });
  }

  #passing(status: number, { headers, hasLength }: AnswerHead): string[] {
    const { query } = this.#rules;
    const shown = query ? withoutQueryKeys(headers, query) : headers;
    // RFC 9110, 8.6.
    return status === 204 && hasLength ? withoutHeader(shown, 'content-length') : shown;
  }

  /** A stream without data yet counts as begun. */
  #showHead(): void {
    if (!this.#head || this.#response.destroyed) return;
    const isShown = this.#try(() => {
      this.#writeHead();
      this.#response.flushHeaders();
    });
    if (!isShown) this.stop(new Error('the head of the answer cannot be passed on'));
  }

  #writeHead(): void {
    const head = this.#head;
    this.#head = undefined;
    if (head) this.#response.writeHead(head.status, head.phrase, head.headers);
  }

  #write(chunk: Buffer): boolean {
    this.#writeHead();
    return this.#response.write(chunk);
  }

  #passTogether(): void {
    if (!this.#try(() => this.#flush())) this.stop(new Error('the answer cannot be passed on'));
  }

  #flush(): void {
    let hasRoom = true;
    for (const part of this.#together.parts()) hasRoom = this.#write(part);
    this.#together.clear();
    const controller = this.#controller;
    if (hasRoom || this.#isFull || !controller) return;
    this.#isFull = true;
    const goOn = this.#pace.hold(controller);
    this.#response.once('drain', () => {
      this.#isFull = false;
      goOn();
    });
  }

  #startLook(status: number, pairs: string[], begin: (extra: string[]) => void): void {
    const rules = this.#rules;
    const { isThrottled } = rules;
    if (!rules.bodyDecides(status)) {
      const extra = rules.judge({ status, headers: asRecord(pairs), body: '' });
      begin(isThrottled ? extra : []);
      return;
    }
    if (!isThrottled) begin([]);
    this.#look = { status, pairs, bytes: new ByteBlocks(), begin: isThrottled ? begin : undefined };
  }

  #endLook(): void {
    const look = this.#look;
    this.#look = undefined;
    if (!look) return;
    const headers = asRecord(look.pairs);
    const body = readableStart(look.bytes.whole(), headers['content-encoding']);
    const extra = this.#rules.judge({ status: look.status, headers, body });
    if (!look.begin) return;
    look.begin(extra);
    for (const bytes of look.bytes.parts()) this.#write(bytes);
  }

  #finish({ rawTrailers }: Dispatcher.DispatchController): void {
    this.#flush();
    this.#writeHead();
    const pairs = this.#trailers ? trailersOf(rawPairs(rawTrailers)) : [];
    const trailers: [string, string][] = [];
    for (let i = 0; i < pairs.length; i += 2) trailers.push([pairs[i] ?? '', pairs[i + 1] ?? '']);
    if (trailers.length > 0) this.#response.addTrailers(trailers);
    this.#response.end();
  }

  #release(): void {
    const held = this.#held;
    this.#held = undefined;
    held?.begin();
    for (const bytes of held?.bytes.parts() ?? []) this.#write(bytes);
  }
}

/** undici reads the reason phrase as UTF-8, node writes one byte for each character. */
function asBytes(message: string): string {
  return /^[\x20-\x7e]*$/.test(message) ? message : Buffer.from(message, 'utf8').toString('latin1');
}
