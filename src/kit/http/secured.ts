import { isIP, type Socket } from 'node:net';
import { connect } from 'node:tls';

/** TLS on a socket that the door dialled, for protocols that are not HTTP. The certificate must be that of the host. */
export function secured(socket: Socket, host: string, ca: readonly string[] | undefined): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const secure = connect({
      socket,
      host,
      ...(isIP(host) ? {} : { servername: host }),
      ...(ca ? { ca: [...ca] } : {}),
    });
    secure.once('secureConnect', () => resolve(secure));
    // It stays: an error before its new owner listens would end the process, and node leaves the socket open behind one of TLS.
    secure.on('error', (error) => {
      reject(error);
      secure.destroy();
    });
    secure.once('close', () => reject(new Error('the connection was closed before TLS began')));
  });
}
