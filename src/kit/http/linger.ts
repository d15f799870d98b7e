import type { Duplex } from 'node:stream';

/** A caller who does not end the connection, too, has so long to read what was sent, in milliseconds. */
const lingerMs = 2_000;

/**
 * Ends our side of a connection, after this text. What still comes is dropped, and is no request: no answer to it could be sent. It is
 * destroyed soon, unless its caller ends it before.
 */
export function endForGood(socket: Duplex, text = ''): void {
  // Node's parser has a listener of its own, or takes the bytes before the stream does until a listener is added.
  socket.removeAllListeners('data');
  socket.on('data', () => undefined);
  socket.resume();
  socket.end(text);
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(timer));
}
