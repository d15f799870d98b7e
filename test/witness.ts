import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands before a server, passes on what comes, and knows what was asked for. */
export interface Witness {
  url: string;
  /** In their order, each as it stood in the request line: `GET /v1/projects`. */
  seen: { method: string; target: string }[];
  close(): Promise<void>;
}

export async function startWitness(behind: string): Promise<Witness> {
  const seen: Witness['seen'] = [];
  const server = createServer((asked, answer) => {
    const { method = '', url: target = '', headers } = asked;
    seen.push({ method, target });
    const passed = request(`${behind}${target}`, { method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    asked.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
