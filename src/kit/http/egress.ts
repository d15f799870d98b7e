import { lookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { rootCertificates } from 'node:tls';
import { callbackify } from 'node:util';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { isPublicAddress, type AddressRules } from './address.ts';
import { isTracing } from '../trace.ts';
import { createLookups, limitsOf, type Resolve } from './lookups.ts';
import { tracedCalls } from './traced-calls.ts';
import { openTunnel, type TunnelOptions } from './tunnel.ts';

export interface EgressOptions {
  allow: AddressRules;
  /** A forward proxy (http or https URL) that dials for us. */
  outboundProxy?: string;
  /** PEM of certificate authorities to trust besides the built-in ones. */
  extraCa?: string;
  connectTimeoutMs: number;
  /** The ports of hosts that are not allowed by name. Default: 80 and 443. */
  ports?: readonly number[];
  /** Who turns names into addresses. Default: the system. */
  resolve?: Resolve;
  /** Called for each connection that fails; callers never see the address. */
  onFailure?: (error: Error, host: string) => void;
}

interface Dialers {
  web: buildConnector.connector;
  database: DatabaseDialer;
}

/** Opens sockets to databases; the TLS of their protocol begins later, and trusts the same authorities. */
export interface DatabaseDialer {
  dial: buildConnector.connector;
  /** PEM; undefined where only the built-in ones count. */
  ca: readonly string[] | undefined;
}

/** An address that must not be dialled. Thrown before any byte leaves. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused';
  readonly code = 'SVC_EGRESS_REFUSED';

  /** `allow` is the entry of the operator's list that would open the address. */
  constructor(why: string, allow: string, options?: ErrorOptions) {
    super(`${why}; the operator can allow it with ${allow} in SVC_EGRESS_ALLOW`, options);
  }
}

const webPorts = [80, 443];
/** Hosted databases listen anywhere above the ports that the system's own services have. */
const firstDatabasePort = 1_024;
/** Of this process, whose threads they share (scripts/node.mjs). The hosts file counts. */
const systemResolve = createLookups(
  (hostname, options, callback) => lookup(hostname, { ...options, all: true }, callback),
  limitsOf(Number(process.env['UV_THREADPOOL_SIZE']) || 4),
);
const dialers = new WeakMap<Dispatcher, Dialers>();
const connectFailures = new WeakSet<Error>();

/** True when the address was refused. */
export function isRefused(error: unknown): boolean {
  return error instanceof Error && (error instanceof EgressRefused || isRefused(error.cause));
}

const connectFaults: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up now',
  ETIMEDOUT: 'connecting took too long',
  UND_ERR_CONNECT_TIMEOUT: 'connecting took too long',
};

/** What a caller sees of a failed call: never the address of a name. The log has the error. */
export function describeFault(error: unknown): { code: string; message: string } {
  const { code: told } = Object(error) as { code?: unknown };
  const code = typeof told === 'string' ? told : '';
  const message = messageOf(error, code);
  if (isRefused(error) || !failedToConnect(error)) return { code, message };
  const known =
    connectFaults[code] ??
    (/CERT|ALTNAME|SIGNATURE|ISSUER/.test(code) ? 'its certificate is not trusted' : undefined);
  return { code, message: known ?? `the connection failed${code ? ` (${code})` : ''}` };
}

/** The parser checks some of what it reads, such as a status below 100, by assertions. */
function messageOf(error: unknown, code: string): string {
  if (code === 'ERR_ASSERTION') return 'the answer is not valid HTTP';
  return error instanceof Error ? error.message || error.name : String(error);
}

/** True when the error arose while connecting: no byte of the request can have left. */
export function failedToConnect(error: unknown): boolean {
  return error instanceof Error && (connectFailures.has(error) || failedToConnect(error.cause));
}

/**
 * The one door for outgoing HTTP: the address is checked where the socket connects, on the address that is dialled. HTTP/1.1 only:
 * one silent HTTP/2 session would hold every call to its host (docs/decisions/http1-to-providers.md).
 */
export function createEgress(options: EgressOptions): Dispatcher {
  const ca = options.extraCa ? [...rootCertificates, options.extraCa] : undefined;
  const ports = new Set(options.ports ?? webPorts);
  const connect = connectorOf(options, ca, (port) => ports.has(port));
  // Our own time limits hold for each call; a pooled socket idle for longer than 4 s may be half closed (docs/invariants.md, 14).
  const agent = new Agent({
    connect,
    allowH2: false,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 10_000,
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
    maxRedirections: 0,
  } as Agent.Options);
  const dial = connectorOf(options, ca, (port) => port >= firstDatabasePort);
  const egress = isTracing() ? agent.compose(tracedCalls) : agent;
  dialers.set(egress, { web: connect, database: { dial, ca } });
  return egress;
}

/** Opens a socket under the same checks, for calls that undici cannot make (trailers, Expect). */
export function dialerOf(egress: Dispatcher): buildConnector.connector {
  return dialersOf(egress).web;
}

/** The same checks of addresses, with the ports of databases. */
export function databaseDialerOf(egress: Dispatcher): DatabaseDialer {
  return dialersOf(egress).database;
}

function dialersOf(egress: Dispatcher): Dialers {
  const known = dialers.get(egress);
  if (!known) throw new Error('not an egress of createEgress');
  return known;
}

interface Policy {
  rules: AddressRules;
  takesPort: (port: number) => boolean;
  resolve: Resolve;
}

function connectorOf(
  options: EgressOptions,
  ca: string[] | undefined,
  takesPort: Policy['takesPort'],
): buildConnector.connector {
  const { outboundProxy: proxy, connectTimeoutMs: timeoutMs } = options;
  const policy: Policy = {
    rules: options.allow,
    takesPort,
    resolve: options.resolve ?? systemResolve,
  };
  const settings = { allowH2: false, timeout: timeoutMs, ...(ca ? { ca } : {}) };
  const connect =
    proxy === undefined
      ? directly(policy, settings)
      : throughTunnel(policy, settings, { proxy, timeoutMs, ...(ca ? { ca } : {}) });
  return (target, callback) => {
    const { host, port } = placeOf(target);
    const done: buildConnector.Callback = (error, socket) => {
      if (!error) return callback(null, socket);
      options.onFailure?.(error, host);
      return callback(marked(error), null);
    };
    const refusal = refuseTarget(policy, host, port);
    if (refusal) done(refusal, null);
    else connect(target, done);
  };
}

/** Two connectors: what an operator allows by name may resolve to any address. */
function directly(policy: Policy, settings: buildConnector.BuildOptions): buildConnector.connector {
  const [trusting, checking] = [true, false].map((trusted) =>
    buildConnector({ ...settings, lookup: checkedLookup(policy, trusted) }),
  );
  return (target, done) => (isTrusted(policy, target) ? trusting : checking)?.(target, done);
}

/** The name is resolved and checked here as well; the forward proxy dials the address that it is told. */
function throughTunnel(
  policy: Policy,
  settings: buildConnector.BuildOptions,
  tunnel: TunnelOptions,
): buildConnector.connector {
  const secure = buildConnector(settings);
  const open = callbackify(async (target: buildConnector.Options) =>
    openTunnel(tunnel, await addressesOf(policy, target), placeOf(target).port),
  );
  return (target, done) => {
    open(target, (error, socket) => {
      if (error) done(error, null);
      else if (target.protocol === 'https:') secure({ ...target, httpSocket: socket }, done);
      else done(null, socket);
    });
  };
}

function addressesOf(policy: Policy, target: buildConnector.Options): Promise<LookupAddress[]> {
  const { host } = placeOf(target);
  const family = isIP(host);
  if (family !== 0) return Promise.resolve([{ address: host, family }]);
  const lookUp = checkedLookup(policy, isTrusted(policy, target)) as unknown as Resolve;
  return new Promise((resolve, reject) => {
    lookUp(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses)));
  });
}

function isTrusted({ rules }: Policy, target: buildConnector.Options): boolean {
  const { host, port } = placeOf(target);
  return rules.allows(host, port);
}

function placeOf({ hostname, port, protocol }: buildConnector.Options): { host: string; port: number } {
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: port ? Number(port) : protocol === 'https:' ? 443 : 80 };
}

function refuseTarget({ rules, takesPort }: Policy, host: string, port: number): EgressRefused | undefined {
  if (rules.allows(host, port)) return undefined;
  if (isIP(host) && !isPublicAddress(host) && !rules.allowsAddress(host)) {
    return new EgressRefused(`${host} is not a public address`, entryOf(host, port));
  }
  const listed = isIP(host) !== 0 && rules.allowsAddress(host);
  if (takesPort(port) || listed) return undefined;
  return new EgressRefused(`port ${port} of ${host} is not allowed`, entryOf(host, port));
}

function entryOf(host: string, port: number): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Resolves once and dials what was checked: a second answer could differ. One bad address refuses the set. */
function checkedLookup({ rules, resolve }: Policy, trusted: boolean): LookupFunction {
  return (hostname, lookupOptions, callback) => {
    resolve(hostname, lookupOptions, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const bad = addresses.find(
        ({ address }) => !trusted && !isPublicAddress(address) && !rules.allowsAddress(address),
      );
      if (bad)
        return callback(
          new EgressRefused(`${hostname} resolves to what is not a public address`, hostname, { cause: bad }),
          '',
          0,
        );
      if (lookupOptions.all)
        return (callback as unknown as (e: null, a: LookupAddress[]) => void)(null, addresses);
      const first = addresses[0];
      return callback(null, first?.address ?? '', first?.family ?? 0);
    });
  };
}

function marked(error: Error): Error {
  connectFailures.add(error);
  return error;
}
