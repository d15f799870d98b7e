import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** What is under way on a connection that node's parser cannot read. */
export type Breakage =
  /** A request of its own; nothing else waits for an answer. */
  | { kind: 'request' }
  /** The body of a request that was not answered yet. */
  | { kind: 'body'; request: IncomingMessage; response: ServerResponse }
  /** It follows requests whose answers are on their way. */
  | { kind: 'behind'; response: ServerResponse }
  /** The body of a request whose answer has begun or is given: a second one would be taken for the next. */
  | { kind: 'answered' };

const newest = new WeakMap<Duplex, { request: IncomingMessage; response: ServerResponse }>();

/** Remembers the newest request of each connection of a server. */
export function watchConnections(server: Server): void {
  const note = (request: IncomingMessage, response: ServerResponse): void => {
    newest.set(request.socket, { request, response });
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.prependListener(event, note);
}

/** Tells what a parser failure on a watched connection means. */
export function breakageOn(socket: Duplex): Breakage {
  const found = newest.get(socket);
  if (!found) return { kind: 'request' };
  const { request, response } = found;
  if (!request.complete) return response.headersSent ? { kind: 'answered' } : { kind: 'body', ...found };
  return response.writableFinished || response.destroyed ? { kind: 'request' } : { kind: 'behind', response };
}

const ending = new WeakSet<Duplex>();

/** Ends a connection when the answers that are on their way have left. */
export function endAfter(response: ServerResponse, socket: Duplex): void {
  // A parser that has failed once fails again with every further byte.
  if (ending.has(socket)) return;
  ending.add(socket);
  response.shouldKeepAlive = false;
  response.once('close', () => socket.end(() => socket.destroy()));
}
