import ipaddr from 'ipaddr.js';

/** What an operator allows beyond public addresses: `host`, `host:port` or a CIDR range. */
export interface AddressRules {
  allows(host: string, port: number): boolean;
  allowsAddress(address: string): boolean;
}

/** Reads SVC_EGRESS_ALLOW entries. Throws for an entry that is none of the three forms. */
export function parseAddressRules(entries: readonly string[]): AddressRules {
  const hosts = new Set<string>();
  const ranges: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];
  for (const entry of entries) {
    if (ipaddr.isValidCIDR(entry)) ranges.push(ipaddr.parseCIDR(entry));
    else if (/^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/i.test(entry))
      hosts.add(entry.replaceAll(/[[\]]/g, '').toLowerCase());
    else throw new Error(`"${entry}" is not a host, a host:port or a CIDR range`);
  }
  return {
    allows: (host, port) => hosts.has(host.toLowerCase()) || hosts.has(`${host.toLowerCase()}:${port}`),
    allowsAddress: (address) => {
      const parsed = ipaddr.process(address);
      return ranges.some(
        ([base, bits]) =>
          base.kind() === parsed.kind() && parsed.match([base, bits] as [ipaddr.IPv4, number]),
      );
    },
  };
}

/**
 * Whether an address is one of the public internet. Everything else is refused: loopback, private, link-local, carrier
 * NAT, metadata, multicast, reserved, and every IPv6 form that carries an IPv4 address inside (mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv4) return true;
  // What is outside 2000::/3 is not allocated to anybody, and 3ffe::/16 and above no longer, or for documentation.
  const first = parsed.parts[0] ?? 0;
  return first >= 0x2000 && first < 0x3ffe && !address.includes('%');
}
