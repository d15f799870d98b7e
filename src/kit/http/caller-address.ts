import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Whether an address is that of a proxy in front, whose X-Forwarded-For is believed. */
export type IsTrusted = (address: string) => boolean;

type Range = ReturnType<typeof ipaddr.parseCIDR>;

/** Names that may be given instead of addresses. */
const named: Record<string, readonly string[]> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/** Reads SVC_TRUSTED_PROXIES entries. Throws for what is neither an address nor a range. */
export function parseTrustedProxies(entries: readonly string[]): IsTrusted {
  const ranges = entries.flatMap((entry) => (named[entry] ?? [entry]).map(rangeOf));
  return (address) => {
    if (ranges.length === 0 || !ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return ranges.some((range) => parsed.kind() === range[0].kind() && parsed.match(range));
  };
}

function rangeOf(entry: string): Range {
  if (ipaddr.isValidCIDR(entry)) return ipaddr.parseCIDR(entry);
  if (!ipaddr.isValid(entry)) throw new Error(`"${entry}" is not an address or a CIDR range`);
  const address = ipaddr.process(entry);
  return ipaddr.parseCIDR(`${address.toString()}/${address.kind() === 'ipv4' ? 32 : 128}`);
}

/**
 * The address of the caller: the last of the chain that is no trusted proxy. What is no address ends the chain: the caller
 * is then the proxy that said it.
 */
export function callerAddress(
  { remoteAddress = '' }: { remoteAddress?: string | undefined },
  forwardedFor: string | string[] | undefined,
  isTrusted: IsTrusted,
): string {
  const before = [forwardedFor ?? []].flat().join(',').split(',');
  let caller = remoteAddress;
  for (const entry of before.filter((each) => each.trim() !== '').reverse()) {
    const address = isTrusted(caller) ? addressIn(entry.trim()) : undefined;
    if (address === undefined) break;
    caller = address;
  }
  return caller;
}

/** An address, which may stand in brackets and with a port; undefined for anything else. */
function addressIn(entry: string): string | undefined {
  const [, v6, v4 = entry] = /^(?:\[(.*)\]|([^:]*))(?::\d{1,5})?$/.exec(entry) ?? [];
  const address = v6 ?? v4;
  return isIP(address) === 0 ? undefined : address;
}
