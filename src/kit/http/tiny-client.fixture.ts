import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** In a thread of its own: sends a head, many copies of a text and a tail, keeps the connection, and tells what came back. */
const { port, head, text, times, tail } = workerData as {
  port: number;
  head: string;
  text: string;
  times: number;
  tail: string;
};
const socket = connect(port, '127.0.0.1');
let answer = '';
const tell = (isClosed: boolean): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- this is a thread, not a window
  parentPort?.postMessage({ answer, isClosed });
};
socket.on('data', (chunk) => (answer += chunk.toString('latin1')));
socket.on('error', () => undefined);
socket.on('close', () => tell(true));
socket.write(head);
// By then the server is held up: what follows gathers in its kernel.
setTimeout(() => socket.write(text.repeat(times) + tail), 50);
setTimeout(() => {
  tell(false);
  socket.destroy();
}, 3_000);
