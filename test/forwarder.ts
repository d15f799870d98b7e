import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';

/** A wire to the database that a test can cut. */
export interface Forwarder {
  /** The database's URL by way of this wire. */
  url: string;
  /** `refuse`: connections break and new ones are closed at once. `hang`: not a byte passes, nothing is closed. */
  cut(how: 'refuse' | 'hang'): void;
  heal(): void;
  close(): Promise<void>;
}

/** Forwards TCP to the database server, which may listen on a Unix socket. */
export async function startForwarder(databaseUrl: string): Promise<Forwarder> {
  const target = new URL(databaseUrl);
  const folder = target.searchParams.get('host');
  const port = Number(target.port || 5432);
  const pairs = new Set<[Socket, Socket]>();
  let state: 'open' | 'refuse' | 'hang' = 'open';
  const server = createServer((near) => {
    if (state === 'refuse') {
      near.destroy();
      return;
    }
    const far = folder ? connect(join(folder, `.s.PGSQL.${port}`)) : connect(port, target.hostname);
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    near.pipe(far);
    far.pipe(near);
    if (state === 'hang') pause(pair);
    for (const [one, other] of [pair, pair.toReversed()] as [Socket, Socket][]) {
      one.on('error', () => other.destroy());
      one.on('close', () => {
        other.destroy();
        pairs.delete(pair);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.searchParams.delete('host');
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  const destroyAll = (): void => {
    for (const [near, far] of pairs) {
      near.resetAndDestroy();
      far.destroy();
    }
  };
  return {
    url: url.href,
    cut: (how) => {
      state = how;
      if (how === 'refuse') destroyAll();
      else for (const pair of pairs) pause(pair);
    },
    // Whoever waited on the silent wire finds it broken.
    heal: () => {
      state = 'open';
      destroyAll();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        destroyAll();
      }),
  };
}

function pause([near, far]: [Socket, Socket]): void {
  near.unpipe(far);
  far.unpipe(near);
  near.pause();
  far.pause();
}
