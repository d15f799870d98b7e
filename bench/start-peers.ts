import { join } from 'node:path';
import { installSubPackage } from '../scripts/sub-package.ts';
import type { QueuePeer } from './queue-under-test.ts';

const folder = join(import.meta.dirname, 'peers');

/** Starts the queues of others. They have a package of their own, which is installed when it is first needed. */
export async function startPeers(callers: number): Promise<QueuePeer[]> {
  installSubPackage(folder);
  const peers: QueuePeer[] = [];
  for (const file of ['graphile.ts', 'boss.ts']) {
    const peer = (await import(join(folder, file))) as { start(callers: number): Promise<QueuePeer> };
    peers.push(await peer.start(callers));
  }
  return peers;
}
