import { lookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { rootCertificates } from 'node:tls';
import { Agent, buildConnector, ProxyAgent, type Dispatcher } from 'undici';
import { isPublicAddress, type AddressRules } from './address.ts';

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
}

/** Tells all addresses of a name, as dns.lookup does with `all`. */
export type Resolve = (
  hostname: string,
  options: LookupOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** An address that must not be dialled. Thrown before any byte leaves. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused';
  readonly code = 'SVC_EGRESS_REFUSED';
}

const webPorts = [80, 443];
const systemResolve: Resolve = (hostname, options, callback) =>
  lookup(hostname, { ...options, all: true }, callback);
const dialers = new WeakMap<Dispatcher, buildConnector.connector>();
const connectFailures = new WeakSet<Error>();

/** True when the error arose while connecting: no byte of the request can have left. */
export function failedToConnect(error: unknown): boolean {
  return error instanceof Error && (connectFailures.has(error) || failedToConnect(error.cause));
}

/** The one door for outgoing HTTP: the address is checked where the socket connects, on the address that is dialled. */
export function createEgress(options: EgressOptions): Dispatcher {
  const ca = options.extraCa ? [...rootCertificates, options.extraCa] : undefined;
  const settings = { timeout: options.connectTimeoutMs, ...(ca ? { ca } : {}) };
  if (options.outboundProxy) {
    return new ProxyAgent({ uri: options.outboundProxy, requestTls: settings, proxyTls: settings });
  }
  const policy: Policy = {
    rules: options.allow,
    ports: new Set(options.ports ?? webPorts),
    resolve: options.resolve ?? systemResolve,
  };
  const connect = checkedConnector(policy, settings);
  // Our own time limits hold for each call; a pooled socket idle for longer than 4 s may be half closed (work.md, rule 14).
  const agent = new Agent({
    connect,
    keepAliveTimeout: 4_000,
    keepAliveMaxTimeout: 10_000,
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
    maxRedirections: 0,
  } as Agent.Options);
  dialers.set(agent, connect);
  return agent;
}

/** Opens a socket under the same checks, for what undici cannot say (trailers, Expect); undefined behind a forward proxy. */
export function dialerOf(egress: Dispatcher): buildConnector.connector | undefined {
  return dialers.get(egress);
}

interface Policy {
  rules: AddressRules;
  ports: ReadonlySet<number>;
  resolve: Resolve;
}

function checkedConnector(policy: Policy, settings: buildConnector.BuildOptions): buildConnector.connector {
  const connectors = new Map<string, buildConnector.connector>();
  return (target, callback) => {
    const host = target.hostname.replace(/^\[|\]$/g, '');
    const port = target.port ? Number(target.port) : target.protocol === 'https:' ? 443 : 80;
    const refusal = refuseTarget(policy, host, port);
    if (refusal) return callback(marked(refusal), null);
    const trusted = policy.rules.allows(host, port);
    const key = trusted ? 'trusted' : 'checked';
    const connect =
      connectors.get(key) ?? buildConnector({ ...settings, lookup: checkedLookup(policy, trusted) });
    connectors.set(key, connect);
    return connect(target, (error, socket) => {
      if (error) callback(marked(error), null);
      else callback(null, socket);
    });
  };
}

function refuseTarget({ rules, ports }: Policy, host: string, port: number): EgressRefused | undefined {
  if (rules.allows(host, port)) return undefined;
  if (isIP(host) && !isPublicAddress(host) && !rules.allowsAddress(host)) {
    return new EgressRefused(`${host} is not a public address`);
  }
  const listed = isIP(host) !== 0 && rules.allowsAddress(host);
  return ports.has(port) || listed ? undefined : new EgressRefused(`port ${port} of ${host} is not allowed`);
}

/** Resolves once and hands on what was checked, so that a second answer cannot differ; one bad address refuses the set. */
function checkedLookup({ rules, resolve }: Policy, trusted: boolean): LookupFunction {
  return (hostname, lookupOptions, callback) => {
    resolve(hostname, lookupOptions, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const bad = addresses.find(
        ({ address }) => !trusted && !isPublicAddress(address) && !rules.allowsAddress(address),
      );
      if (bad)
        return callback(
          new EgressRefused(`${hostname} resolves to ${bad.address}, which is not a public address`),
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
