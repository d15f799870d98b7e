import type { Issue } from '../../kit/problem.ts';
import type { CheckContext } from '../kind.ts';
import { unlessNamed } from '../unless-named.ts';
import { longestName, type PostgresMetadata } from './schema.ts';

/** How much of TLS a database is held to, in libpq's words. */
const sslModes = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof sslModes)[number];

/** Where a database is, and as whom. */
export interface Place {
  host: string;
  port: number;
  user: string;
  database: string;
  sslMode: SslMode;
}

const defaultPort = '5432';

/** The URL's parts, or what is wrong with it. */
export function placeOf(text: string): Place | { fault: string } {
  const url = URL.parse(text);
  const fault = url ? faultOf(url) : 'is no URL: write postgresql://user@host:port/database';
  if (!url || fault !== undefined) return { fault: fault ?? '' };
  return {
    host: url.hostname.replace(/^\[|\]$/g, '').toLowerCase(),
    port: Number(url.port || defaultPort),
    user: decoded(url.username) ?? '',
    database: decoded(url.pathname.slice(1)) ?? '',
    sslMode: sslModes.find((mode) => mode === url.searchParams.get('sslmode')) ?? 'verify-full',
  };
}

function faultOf(url: URL): string | undefined {
  if (!/^postgres(ql)?:$/.test(url.protocol)) {
    return `begins with ${url.protocol} where postgresql: is known`;
  }
  if (url.password !== '') return 'holds a password: put it into secrets.password and leave it out here';
  if (!/^(\[[\da-f:.]+\]|[\w.-]+)$/i.test(url.hostname)) {
    return 'needs one host, a name or an address; a Unix socket or a list of hosts cannot be reached';
  }
  if (url.port === '0') return 'has the port 0: write the one that the database listens on';
  if (!isName(decoded(url.username))) return 'names no user: write postgresql://user@host:port/database';
  if (!isName(decoded(url.pathname.slice(1))) || url.pathname.slice(1).includes('/')) {
    return 'names no database: write it after the host, as in postgresql://user@host:port/database';
  }
  if (url.hash !== '') return 'has a part behind #: write %23 where a name holds it';
  return faultOfParameters(url.searchParams);
}

function faultOfParameters(parameters: URLSearchParams): string | undefined {
  const unknown = [...parameters.keys()].find((name) => name !== 'sslmode');
  if (unknown !== undefined) {
    return `has the parameter ${JSON.stringify(unknown)}: only sslmode is known; leave it out`;
  }
  const modes = parameters.getAll('sslmode');
  if (modes.length > 1) return 'has sslmode more than once';
  const [mode] = modes;
  if (mode === undefined || sslModes.some((known) => known === mode)) return undefined;
  return `has the sslmode ${JSON.stringify(mode)}: write one of ${sslModes.join(', ')}`;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function isName(text: string | undefined): boolean {
  return text !== undefined && text !== '' && !text.includes('\0');
}

/** What the shape cannot say. */
export function check({ url, schema, tablePrefix }: PostgresMetadata, context: CheckContext): Issue[] {
  return [
    urlFault(placeOf(url), context),
    schemaFault(schema),
    tablePrefix?.includes('\0') ? issue('metadata.tablePrefix', 'must not hold a NUL character') : undefined,
  ].filter((one) => one !== undefined);
}

function urlFault(
  place: ReturnType<typeof placeOf>,
  { production, isAllowed }: CheckContext,
): Issue | undefined {
  if ('fault' in place) return issue('metadata.url', place.fault);
  if (!production || place.sslMode !== 'disable' || isAllowed(place.host, place.port)) return undefined;
  return issue(
    'metadata.url',
    `turns TLS off: leave sslmode out, ${unlessNamed(place.host, place.port)}: records would travel in the clear`,
  );
}

function schemaFault(schema: string): Issue | undefined {
  if (schema.includes('\0') || Buffer.byteLength(schema) > longestName) {
    return issue(
      'metadata.schema',
      `must be a name of at most ${longestName} bytes without a NUL character, as PostgreSQL keeps names`,
    );
  }
  if (!/^(pg_.*|information_schema)$/s.test(schema)) return undefined;
  return issue('metadata.schema', "is one of PostgreSQL's own schemas: name another one");
}

function issue(name: string, detail: string): Issue {
  return { in: 'body', name, detail };
}
