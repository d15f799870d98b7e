import { ServerResponse, type IncomingMessage } from 'node:http';

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
