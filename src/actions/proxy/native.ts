import {
  request as openRequest,
  type ClientRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { buildConnector, Dispatcher } from 'undici';
import type { OutgoingBody } from './body.ts';

export interface NativeCall {
  origin: string;
  method: string;
  path: string;
  /** Names and values in turn, as they are to be sent. */
  headers: string[];
  body: OutgoingBody;
  /** Until the answer begins, and between two parts of it. */
  idleMs: number;
}

/**
 * Makes a call by node:http, on a connection of its own: for the few whose request has trailers or expects 100 Continue, which
 * undici can not send. Tells the handler what undici would.
 */
export function dispatchNatively(
  dial: buildConnector.connector,
  call: NativeCall,
  caller: { request: IncomingMessage; response: ServerResponse },
  handler: Dispatcher.DispatchHandler,
): void {
  const url = new URL(call.origin);
  const target = { hostname: url.hostname, host: url.host, protocol: url.protocol, port: url.port };
  const controller = createController();
  dial(target, (error, socket) => {
    if (error) return handler.onResponseError?.(controller, error);
    const outgoing = openRequest({
      method: call.method,
      path: call.path,
      headers: call.headers,
      setDefaultHeaders: false,
      createConnection: () => socket,
    });
    controller.attach(outgoing, (reason) => handler.onResponseError?.(controller, reason));
    listen(outgoing, socket, call.idleMs, caller.response, controller, handler);
    handler.onRequestStart?.(controller, {});
    if (controller.aborted) return;
    send(outgoing, call.body, caller.request);
  });
}

interface Controller extends Dispatcher.DispatchController {
  attach(outgoing: ClientRequest, onAbort: (reason: Error) => void): void;
  answered(answer: IncomingMessage): void;
  /** Ends the call, once; later reasons are not told. */
  fail(error: Error): void;
  done(): void;
}

function createController(): Controller {
  let outgoing: ClientRequest | undefined;
  let answer: IncomingMessage | undefined;
  let tell: ((reason: Error) => void) | undefined;
  let reason: Error | null = null;
  let isOver = false;
  const controller: Controller = {
    get aborted() {
      return reason !== null;
    },
    get paused() {
      return answer?.isPaused() ?? false;
    },
    get reason() {
      return reason;
    },
    attach(request, onAbort) {
      outgoing = request;
      tell = onAbort;
    },
    answered(incoming) {
      answer = incoming;
      controller.rawHeaders = incoming.rawHeaders;
    },
    abort: (error) => controller.fail(error),
    fail(error) {
      if (isOver) return;
      isOver = true;
      reason = error;
      outgoing?.destroy();
      tell?.(error);
    },
    done: () => {
      isOver = true;
    },
    pause: () => void answer?.pause(),
    resume: () => void answer?.resume(),
  };
  return controller;
}

function listen(
  outgoing: ClientRequest,
  socket: Socket,
  idleMs: number,
  response: ServerResponse,
  controller: Controller,
  handler: Dispatcher.DispatchHandler,
): void {
  const timeout = Object.assign(new Error('the provider was silent for too long'), {
    code: 'SVC_IDLE_TIMEOUT',
  });
  // A caller who reads slowly, or sends slowly, is not the provider's silence.
  socket.setTimeout(idleMs, () => {
    if (!controller.paused) controller.fail(timeout);
  });
  outgoing.on('continue', () => response.writeContinue());
  outgoing.on('error', (error) => controller.fail(error));
  outgoing.on('response', (answer) => {
    controller.answered(answer);
    handler.onResponseStart?.(controller, answer.statusCode ?? 502, {}, answer.statusMessage);
    answer.on('data', (chunk: Buffer) => handler.onResponseData?.(controller, chunk));
    answer.on('error', (error) => controller.fail(error));
    answer.on('end', () => {
      if (controller.aborted) return;
      controller.done();
      controller.rawTrailers = answer.rawTrailers;
      handler.onResponseEnd?.(controller, {});
      outgoing.destroy();
    });
  });
}

function send(outgoing: ClientRequest, body: OutgoingBody, request: IncomingMessage): void {
  if (body === null || Buffer.isBuffer(body)) {
    outgoing.end(body ?? undefined);
    return;
  }
  outgoing.flushHeaders();
  body.once('end', () => {
    const trailers: [string, string][] = [];
    for (let i = 0; i < request.rawTrailers.length; i += 2) {
      trailers.push([request.rawTrailers[i] ?? '', request.rawTrailers[i + 1] ?? '']);
    }
    if (trailers.length > 0) outgoing.addTrailers(trailers);
  });
  // An error here is the request's own, and is told there.
  pipeline(body, outgoing, () => undefined);
}
