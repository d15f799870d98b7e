import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** What stands before a PostgreSQL server and is spoken to over TCP: it breaks connections off, or falls silent. */
export interface Front {
  port: number;
  /** Connections that were made so far. */
  count(): number;
  /** From now on nothing passes, in new connections either. */
  hang(): void;
  pass(): void;
  /** Ends what is open. */
  cut(): void;
  /** The next commit is made there, and its answer is lost with the connection. */
  loseNextCommit(): void;
  close(): Promise<void>;
}

const committed = Buffer.from('COMMIT\0');

export async function startFront(serverUrl: string): Promise<Front> {
  const url = new URL(serverUrl);
  const folder = url.searchParams.get('host');
  const port = Number(url.port || 5432);
  const open = new Set<Socket>();
  let made = 0;
  let isHanging = false;
  let losesCommit = false;
  const server = createServer((client) => {
    made += 1;
    const upstream = folder ? connect(`${folder}/.s.PGSQL.${port}`) : connect(port, url.hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (part: Buffer) => isHanging || upstream.write(part));
    upstream.on('data', (part: Buffer) => {
      if (isHanging) return;
      if (losesCommit && part.includes(committed)) {
        losesCommit = false;
        client.destroy();
      } else client.write(part);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => open.forEach((socket) => socket.destroy());
  return {
    port: (server.address() as AddressInfo).port,
    count: () => made,
    hang: () => (isHanging = true),
    pass: () => (isHanging = false),
    cut,
    loseNextCommit: () => (losesCommit = true),
    close: async () => {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
