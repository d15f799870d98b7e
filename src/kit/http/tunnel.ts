import type { LookupAddress } from 'node:dns';
import { request as openRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as openSecureRequest } from 'node:https';
import type { Socket } from 'node:net';

export interface TunnelOptions {
  /** The forward proxy (http or https), with a user and password if it wants them. */
  proxy: string;
  /** PEM of the authorities that may vouch for an https proxy. */
  ca?: readonly string[];
  timeoutMs: number;
}

/** More addresses of one name are not tried. */
const mostAddresses = 4;

/**
 * Opens a tunnel to the first of these addresses that the forward proxy can reach. It gets the address, never the name, so
 * that it dials what was checked.
 */
export async function openTunnel(
  options: TunnelOptions,
  addresses: readonly LookupAddress[],
  port: number,
): Promise<Socket> {
  const tried = addresses.slice(0, mostAddresses);
  let failure = new Error('the name has no address');
  for (const { address, family } of tried) {
    const authority = `${family === 6 ? `[${address}]` : address}:${port}`;
    try {
      return await connectTo(authority, { ...options, timeoutMs: options.timeoutMs / tried.length });
    } catch (error) {
      failure = error as Error;
    }
  }
  throw failure;
}

function connectTo(authority: string, { proxy, ca, timeoutMs }: TunnelOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const asked = askProxy(proxy, authority, ca);
    const timer = setTimeout(() => asked.destroy(tooLong(timeoutMs)), timeoutMs);
    asked.once('connect', (answer: IncomingMessage, socket: Socket, early: Buffer) => {
      clearTimeout(timer);
      // The new owner adds its own listeners.
      socket.on('error', () => undefined);
      const status = answer.statusCode ?? 0;
      if (status >= 200 && status < 300) {
        if (early.length > 0) socket.unshift(early);
        socket.setNoDelay(true).setKeepAlive(true, 60_000);
        resolve(socket);
      } else {
        socket.destroy();
        reject(new Error(`the forward proxy answered ${status}`));
      }
    });
    asked.on('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    asked.end();
  });
}

function askProxy(proxy: string, authority: string, ca: TunnelOptions['ca']): ClientRequest {
  const url = new URL(proxy);
  const { protocol, hostname, port, username, password } = url;
  const options = {
    method: 'CONNECT',
    hostname: hostname.replace(/^\[|\]$/g, ''),
    port,
    path: authority,
    agent: false,
    headers: {
      host: authority,
      ...(username ? { 'proxy-authorization': basic(username, password) } : {}),
    },
  } as const;
  return protocol === 'https:'
    ? openSecureRequest({ ...options, ...(ca ? { ca: [...ca] } : {}) })
    : openRequest(options);
}

function basic(username: string, password: string): string {
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

function tooLong(timeoutMs: number): Error {
  return Object.assign(new Error(`the forward proxy opened no tunnel within ${Math.round(timeoutMs)} ms`), {
    code: 'SVC_CONNECT_TIMEOUT',
  });
}
