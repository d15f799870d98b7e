import type { FastifyRequest } from 'fastify';

type Asked = Pick<FastifyRequest, 'method' | 'url' | 'headers'>;

const objectPath = /^\/v1(\/projects\/[^/]+\/integrations\/[^/]+\/objects\/[^/]+)$/;

/** What helps who sent a request to a path without a route, where it is plain what was meant. */
export function remedyOfUnknownPath({ method, url, headers }: Asked, proxyPort: number): string | undefined {
  if (Object.keys(headers).some((name) => name.startsWith('x-svc-')))
    return `This is the port of the API. Send proxied calls to the port of the proxy: ${proxyPort} (SVC_PROXY_PORT), or where the operator shows it.`;
  const [, object] = objectPath.exec(url.split('?', 1)[0] ?? '') ?? [];
  if (object === undefined || method !== 'POST') return undefined;
  return `Send a write to /write/v1${object}, and ask for a read at /read/v1${object}.`;
}
