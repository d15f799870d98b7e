import type { Issue } from '../../kit/problem.ts';
import type { CheckContext } from '../kind.ts';
import { templateFault } from '../template.ts';
import { unlessNamed } from '../unless-named.ts';
import type { AmqpMetadata } from './schema.ts';

/** Where a broker is. */
export interface Place {
  host: string;
  port: number;
  vhost: string;
  isSecure: boolean;
}

/** What AMQP can hold of a name. */
export const longestName = 255;

/** The URL's parts, or what is wrong with it. */
export function placeOf(text: string): Place | { fault: string } {
  const url = URL.parse(text);
  const fault = url ? faultOf(url) : 'is no URL: write amqps://host:port/vhost';
  if (!url || fault !== undefined) return { fault: fault ?? '' };
  const isSecure = url.protocol === 'amqps:';
  return {
    host: url.hostname.replaceAll(/[[\]]/g, '').toLowerCase(),
    port: Number(url.port || (isSecure ? 5671 : 5672)),
    vhost: decoded(url.pathname.slice(1)) || '/',
    isSecure,
  };
}

function faultOf(url: URL): string | undefined {
  if (!/^amqps?:$/.test(url.protocol)) return `begins with ${url.protocol} where amqps: is known`;
  if (url.username !== '' || url.password !== '')
    return 'must hold no user and no password: put them into secrets.username and secrets.password';
  if (!/^(\[[\da-f:.]+\]|[\w.-]+)$/i.test(url.hostname)) return 'needs one host, a name or an address';
  if (url.port === '0') return 'has the port 0: write the one that the broker listens on';
  if (url.search !== '' || url.hash !== '') return 'must have no part behind ? or #: leave it out';
  const path = url.pathname.slice(1);
  const vhost = decoded(path);
  if (
    vhost === undefined ||
    path.includes('/') ||
    vhost.includes('\0') ||
    Buffer.byteLength(vhost) > longestName
  )
    return 'names no virtual host that there can be: write %2F for a slash in its name';
  return undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** What the shape cannot say. */
export function checkAmqp(metadata: AmqpMetadata, context: CheckContext): Issue[] {
  const { url, exchange, routingKeyTemplate } = metadata;
  return [
    issueOf('metadata.url', urlFault(placeOf(url), context)),
    issueOf(
      'metadata.exchange',
      Buffer.byteLength(exchange) > longestName ? `must have at most ${longestName} bytes` : undefined,
    ),
    issueOf(
      'metadata.routingKeyTemplate',
      routingKeyTemplate === undefined ? undefined : templateFault(routingKeyTemplate),
    ),
  ].flat();
}

function urlFault(
  place: ReturnType<typeof placeOf>,
  { production, isAllowed }: CheckContext,
): string | undefined {
  if ('fault' in place) return place.fault;
  if (!production || place.isSecure || isAllowed(place.host, place.port)) return undefined;
  return `must begin with amqps://, ${unlessNamed(place.host, place.port)}: records would travel in the clear`;
}

function issueOf(name: string, detail: string | undefined): Issue[] {
  return detail === undefined ? [] : [{ in: 'body', name, detail }];
}
