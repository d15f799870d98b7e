import { createSocket } from 'node:dgram';
import { Resolver, type LookupAddress } from 'node:dns';
import ipaddr from 'ipaddr.js';
import type { Resolve } from './lookups.ts';

/** A name server on loopback whose answers hold for no time at all. */
export interface NameServer {
  /** Asks it, and nobody else. */
  resolve: Resolve;
  /** The sets of addresses of a name: the first is told first, the last from then on. */
  say(name: string, ...sets: string[][]): void;
  /** How often the name was asked for, over both kinds of address. */
  asked(name: string): number;
  close(): void;
}

const typeOf = { ipv4: 1, ipv6: 28 } as const;

export async function startNameServer(): Promise<NameServer> {
  const names = new Map<string, string[][]>();
  const counts = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, type, end } = questionOf(query);
    const sets = names.get(name) ?? [];
    // A lookup asks for both kinds of address; the second question ends its turn.
    const turn = Math.floor((counts.get(name) ?? 0) / 2);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    const records = (sets[Math.min(turn, sets.length - 1)] ?? [])
      .map((address) => ipaddr.parse(address))
      .filter((address) => typeOf[address.kind()] === type)
      .map((address) => recordOf(type, address.toByteArray()));
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(sets.length > 0 ? 0x8580 : 0x8583, 2);
    for (const [at, count] of [1, records.length, 0, 0].entries()) header.writeUInt16BE(count, 4 + 2 * at);
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), from.port, from.address);
  });
  await new Promise<void>((done) => socket.bind(0, '127.0.0.1', done));
  const resolver = new Resolver({ timeout: 1_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    resolve: (hostname, _options, callback) => {
      resolver.resolve4(hostname, (failed4, four: string[] | undefined) => {
        resolver.resolve6(hostname, (failed6, six: string[] | undefined) => {
          const found: LookupAddress[] = [
            ...(four ?? []).map((address) => ({ address, family: 4 })),
            ...(six ?? []).map((address) => ({ address, family: 6 })),
          ];
          callback(found.length > 0 ? null : (failed4 ?? failed6), found);
        });
      });
    },
    say: (name, ...sets) => void names.set(name, sets),
    asked: (name) => counts.get(name) ?? 0,
    close: () => socket.close(),
  };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** An answer to the name of the question, with a time to live of 0. */
function recordOf(type: number, bytes: number[]): Buffer {
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, bytes.length]);
  return Buffer.concat([head, Buffer.from(bytes)]);
}
