import {
  ServerResponse,
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  type Server,
} from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { sleep } from '../retry.ts';
import { awaitsAnswer, newestOn } from './broken-connection.ts';
import { endForGood } from './linger.ts';

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

const keepsAlive = Symbol('keepsAlive');

/**
 * Answers of a server that may stop: once it accepts no connections, the last one of each connection says `Connection: close`, also
 * where its request came before. Not earlier: the caller would come back to this server, by a connection that its end resets. A caller
 * who still sends keeps the connection, since closing it would take the answer away.
 */
export function drainingResponse(isAccepting: () => boolean): typeof ServerResponse {
  class DrainingResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    declare [keepsAlive]: boolean;

    override writeHead(
      status: number,
      ...more: [phrase?: string, headers?: Headers] | [headers?: Headers]
    ): this {
      super.writeHead(status, ...(more as [string?, Headers?]));
      // What was said to the caller holds, whatever becomes of the server.
      if (!this.shouldKeepAlive) this[keepsAlive] = false;
      return this;
    }
  }
  // An accessor of the class itself may not stand where the type has a property.
  Object.defineProperty(DrainingResponse.prototype, 'shouldKeepAlive', {
    get(this: DrainingResponse) {
      const { req } = this;
      return this[keepsAlive] && (isAccepting() || !req.complete || newestOn(req.socket) !== this);
    },
    set(this: DrainingResponse, value: boolean) {
      this[keepsAlive] = value;
    },
  });
  return DrainingResponse;
}

/** Whether the connection ends with this answer, whatever comes behind its request. */
export function isLast(response: ServerResponse): boolean {
  return keepsAlive in response && response[keepsAlive] === false;
}

const connections = new WeakMap<Server, Set<Socket>>();

/** Remembers the open connections of a server that is to be drained. */
export function rememberConnections(server: Server): void {
  const open = new Set<Socket>();
  connections.set(server, open);
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
}

/** Node takes a connection on which nothing has come for one that is busy. Browsers open such ahead of their requests. */
function closeUnused(server: Server): void {
  for (const socket of connections.get(server) ?? []) if (socket.bytesRead === 0) socket.destroy();
}

/** How long idle connections stay open, so that a request on its way is still answered. */
const idleMs = 300;
/** How long a connection stays on which no request waits for its answer, though its headers, or the body of a refused request, still come. */
const unaskedMs = 2_000;

/** An answer that has just left is still read. */
function endUnasked(server: Server): void {
  for (const socket of connections.get(server) ?? []) {
    if (!socket.writableEnded && !awaitsAnswer(socket)) endForGood(socket);
  }
}

/**
 * Accepts no more connections, answers requests on open ones, and closes idle ones last. Its connections are watched (`guardConnections`). Not by the server's own
 * `close`, which closes idle ones first and loses a request that just arrived.
 */
export async function drained(server: Server): Promise<void> {
  await nothingWaits();
  const ended = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });
  await Promise.race([ended, sleep(idleMs)]);
  const since = performance.now();
  const timer = setInterval(() => {
    server.closeIdleConnections();
    closeUnused(server);
    if (performance.now() - since > unaskedMs) endUnasked(server);
  }, 50);
  await ended;
  clearInterval(timer);
}

/** In a turn of the event loop so short nothing else was done than to accept. */
const quietMs = 0.1;
/** A busy process waits so long for one. */
const waitForQuietMs = 100;

/** Closing a listener resets the connections that wait to be accepted: the moment for it is right after they were. */
async function nothingWaits(): Promise<void> {
  const giveUpAt = performance.now() + waitForQuietMs;
  for (let at = performance.now(), before = -Infinity; at < giveUpAt && at - before > quietMs;) {
    await new Promise((resolve) => setImmediate(resolve));
    [before, at] = [at, performance.now()];
  }
}
