import { ServerResponse, type IncomingMessage, type Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import { sleep } from '../retry.ts';

const keepsAlive = Symbol('keepsAlive');

/**
 * Answers of a server that may be told to drain: from then on each one says `Connection: close`, also where its request came
 * before. A caller who still sends keeps the connection, since closing it would take the answer away.
 */
export function drainingResponse(isDraining: () => boolean): typeof ServerResponse {
  class DrainingResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
    declare [keepsAlive]: boolean;
  }
  // An accessor of the class itself may not stand where the type has a property.
  Object.defineProperty(DrainingResponse.prototype, 'shouldKeepAlive', {
    get(this: DrainingResponse) {
      return this[keepsAlive] && !(isDraining() && this.req.complete);
    },
    set(this: DrainingResponse, value: boolean) {
      this[keepsAlive] = value;
    },
  });
  return DrainingResponse;
}

/** How long idle connections stay open, so that a request on its way is still answered. */
const idleMs = 300;

/**
 * Accepts no more connections, answers requests on open ones, and closes idle ones last. Not by the server's own
 * `close`, which closes idle ones first and loses a request that just arrived.
 */
export async function drained(server: Server): Promise<void> {
  // Waiting connections are accepted first: closing would reset them.
  await new Promise((resolve) => setImmediate(resolve));
  const ended = new Promise<void>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve());
  });
  await Promise.race([ended, sleep(idleMs)]);
  const timer = setInterval(() => server.closeIdleConnections(), 50);
  await ended;
  clearInterval(timer);
}
