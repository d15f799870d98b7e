import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { newestOn } from './broken-connection.ts';
import { isLast } from './draining.ts';
import { endForGood } from './linger.ts';

/** Of one connection. A read of 64 KiB may hold 3,600 requests, which node passes on in one turn of the event loop. */
const mostUnanswered = 100;

/** What stands behind the request of a connection that is answered now. */
interface Queue {
  length: number;
  newest: ServerResponse;
}

/**
 * Takes so many requests of a connection before they are answered. With the next one the connection ends after their answers. Nothing
 * is done of what stands behind an answer with which the connection ends (RFC 9112, 9.6): its caller may repeat it (9.3.2).
 */
export function limitPipelines(server: Server): void {
  const queues = new WeakMap<Socket, Queue>();
  const ending = new WeakSet<Socket>();
  const admits = ({ socket }: IncomingMessage, response: ServerResponse): boolean => {
    if (ending.has(socket) || socket.writableEnded) return false;
    const before = newestOn(socket);
    // One is passed from one event to another.
    if (before && before !== response && isLast(before)) {
      ending.add(socket);
      endAfterUnread(before, socket);
      return false;
    }
    // Node gives a response its socket once those before it are sent.
    if (response.socket !== null) return true;
    const known = queues.get(socket);
    if (known?.newest === response) return true;
    const queue = known ?? { length: 0, newest: response };
    // One more is answered now.
    if (queue.length >= mostUnanswered - 1) {
      ending.add(socket);
      endAfterUnread(queue.newest, socket);
      return false;
    }
    if (!known) queues.set(socket, queue);
    queue.newest = response;
    queue.length += 1;
    response.once('close', () => (queue.length -= 1));
    return true;
  };
  const emit = server.emit.bind(server) as (event: string, ...rest: unknown[]) => boolean;
  const limited = (event: string, ...rest: unknown[]): boolean => {
    if (event !== 'request' && event !== 'checkContinue' && event !== 'checkExpectation')
      return emit(event, ...rest);
    const [request, response] = rest as [IncomingMessage, ServerResponse];
    return !admits(request, response) || emit(event, request, response);
  };
  // Listeners cannot be kept from hearing of a request, nor node from reading on.
  Object.assign(server, { emit: limited });
}

/** Reads nothing more, and ends the connection after an answer. Closed at once, with something unread, it would take the answers away. */
function endAfterUnread(response: ServerResponse, socket: Socket): void {
  socket.pause();
  // Node resumes with each message that is complete, and destroys after an answer that is the last.
  socket.resume = () => socket;
  socket.destroySoon = () => undefined;
  response.shouldKeepAlive = false;
  response.once('close', () => endForGood(socket));
}
