import { connect, type AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { certificate } from './certificate.ts';

/** A server that speaks TLS for another one. */
export interface TlsFront {
  url: string;
  close(): Promise<void>;
}

/**
 * Listens on 127.0.0.1 with {@link certificate}, and passes what it decrypts on to an HTTP/1.1 server. It offers HTTP/2, too, which
 * that server does not understand: who chooses it fails. An end or a reset on one side is the same on the other.
 */
export async function startTlsFront(url: string): Promise<TlsFront> {
  const { hostname, port } = new URL(url);
  const server = createServer({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] }, (near) => {
    const far = connect(Number(port), hostname);
    near.pipe(far);
    far.pipe(near);
    far.on('error', () => near.destroy());
    near.on('error', () => far.destroy());
    far.on('close', () => near.destroy());
    near.on('close', () => far.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
