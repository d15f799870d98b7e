import type { Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';

/** How many milliseconds a listener waits for headers of which half a line has come, when it grants them `headersMs`. */
export async function patienceWithHeaders(server: Server, headersMs: number): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.headersTimeout = headersMs;
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.on('error', () => undefined).resume();
  const startedAt = performance.now();
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ');
  await new Promise((resolve) => socket.once('close', resolve));
  return performance.now() - startedAt;
}
