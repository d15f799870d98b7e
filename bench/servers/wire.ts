/** Makes a database that listens on a Unix socket be reached by TCP. Takes its URL; prints its port. */
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';

const { searchParams, hostname, port } = new URL(process.argv[2] ?? '');
const folder = searchParams.get('host');
const server = createServer({ noDelay: true }, (near) => {
  const far = folder
    ? connect(join(folder, `.s.PGSQL.${port || 5432}`))
    : connect(Number(port || 5432), hostname);
  near.pipe(far).pipe(near);
  for (const [one, other] of [
    [near, far],
    [far, near],
  ] as const)
    one.on('error', () => other.destroy());
});
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
