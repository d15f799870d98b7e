import { createServer } from 'node:net';

// Below the ports that systems give to outgoing connections and to listeners that name none: a port from there could be taken
// between the look and the use.
const first = 10_000;
const share = 1_000;
const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % 20;
let next = Math.floor(Math.random() * share);

/** A port of the loopback interface that nobody listens on now. Each worker of a test run has a thousand to itself. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < share; tries += 1) {
    next = (next + 1) % share;
    const port = first + worker * share + next;
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port from ${first + worker * share}`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
