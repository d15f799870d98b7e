import { connect } from 'node:tls';

/** When the certificate of a server ends, whoever signed it; undefined where none is shown in time. */
export function endOfCertificate(host: string, port: number, timeoutMs = 5_000): Promise<Date | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, servername: host, rejectUnauthorized: false, timeout: timeoutMs });
    const end = (date?: Date): void => {
      socket.destroy();
      resolve(date);
    };
    socket.once('secureConnect', () => end(new Date(socket.getPeerCertificate().valid_to)));
    socket.once('error', () => end());
    socket.once('timeout', () => end());
  });
}
