import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Of one connection. A read of 64 KiB may hold 3,600 requests, which node passes on in one turn of the event loop. */
const mostUnanswered = 100;

interface Connection {
  unanswered: number;
  newest: ServerResponse;
  isEnding: boolean;
}

/**
 * Takes so many requests of a connection before they are answered. With the next one the connection ends after their answers; nothing
 * of what follows is done. A client that sends ahead must be ready for it (RFC 9112, 9.3.2).
 */
export function limitPipelines(server: Server): void {
  const connections = new WeakMap<Socket, Connection>();
  const admits = ({ socket }: IncomingMessage, response: ServerResponse): boolean => {
    const known = connections.get(socket);
    // It is passed from one event to another.
    if (known?.newest === response) return true;
    if (known?.isEnding) return false;
    if (known && known.unanswered >= mostUnanswered) {
      known.isEnding = true;
      endAfterUnread(known.newest, socket);
      return false;
    }
    const connection = known ?? { unanswered: 0, newest: response, isEnding: false };
    if (!known) connections.set(socket, connection);
    connection.newest = response;
    connection.unanswered += 1;
    response.once('close', () => (connection.unanswered -= 1));
    return true;
  };
  const emit = server.emit.bind(server) as (event: string, ...rest: unknown[]) => boolean;
  const limited = (event: string, ...rest: unknown[]): boolean => {
    if (event !== 'request' && event !== 'checkContinue' && event !== 'checkExpectation')
      return emit(event, ...rest);
    return !admits(rest[0] as IncomingMessage, rest[1] as ServerResponse) || emit(event, ...rest);
  };
  // Listeners cannot be kept from hearing of a request, nor node from reading on.
  Object.assign(server, { emit: limited });
}

/** How long the answers have to be read by a caller who does not end the connection, too; in milliseconds. */
const lingerMs = 2_000;

/** Reads nothing more, and ends the connection after an answer. Closed at once, with something unread, it would take the answers away. */
function endAfterUnread(response: ServerResponse, socket: Socket): void {
  const end = (): void => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
    socket.once('close', () => clearTimeout(timer));
  };
  socket.pause();
  // Node resumes with each message that is complete, and destroys after an answer that is the last.
  socket.resume = () => socket;
  socket.destroySoon = () => undefined;
  response.shouldKeepAlive = false;
  response.once('close', end);
}
