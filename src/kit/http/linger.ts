import type { Duplex } from 'node:stream';

/** A caller who does not end the connection, too, has so long to read what was sent, in milliseconds. */
const lingerMs = 2_000;

/** Destroys a connection that was ended from here, unless its caller ends it soon. */
export function destroySoon(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs).unref();
  socket.once('close', () => clearTimeout(timer));
}
