import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** A forward proxy that opens tunnels on loopback and remembers who asked for what. */
export interface ForwardProxy {
  url: string;
  /** The authorities that were asked for. */
  asked: string[];
  /** The `Proxy-Authorization` of the last request. */
  credentials(): string | undefined;
  /** What it does from now on; by default it opens tunnels. `status`: refuses with it. `hang`: says nothing. */
  behave(how: 'open' | 'hang' | { status: number }): void;
  close(): Promise<void>;
}

/** `at` gives the port of an authority; by default its own. */
export async function startForwardProxy(at?: (authority: string) => number): Promise<ForwardProxy> {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  let credentials: string | undefined;
  let how: Parameters<ForwardProxy['behave']>[0] = 'open';
  const server = createServer((_request, response) => response.writeHead(405).end());
  server.on('connect', (request: IncomingMessage, near: Socket) => {
    const authority = request.url ?? '';
    asked.push(authority);
    credentials = request.headers['proxy-authorization'];
    near.on('error', () => undefined);
    if (how === 'open') openTunnel(authority, near);
    else if (how !== 'hang') near.end(`HTTP/1.1 ${how.status} No\r\nContent-Length: 0\r\n\r\n`);
  });
  const openTunnel = (authority: string, near: Socket): void => {
    const far = connect(at?.(authority) ?? Number(authority.split(':').at(-1)), '127.0.0.1', () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n');
      near.pipe(far).pipe(near);
    });
    far.on('error', () => near.destroy());
    near.on('close', () => far.destroy());
  };
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    credentials: () => credentials,
    behave: (next) => {
      how = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
