import type { Duplex } from 'node:stream';

/** A caller who does not end the connection, too, has so long to read what was sent, in milliseconds. */
const lingerMs = 2_000;

/**
 * Ends our side of a connection, after this text. What still comes is dropped, and is no request: no answer to it could be sent. It is
 * destroyed soon, unless its caller ends it before.
 */
export function endForGood(socket: Duplex, text = ''): void {
  // Node's parser reads by one, or past the stream until it has another.
  socket.removeAllListeners('data');
  socket.on('data', () => undefined);
  socket.resume();
  socket.end(text);
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(timer));
}
