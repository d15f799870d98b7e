import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { QueuePeer } from './queue-under-test.ts';

const folder = join(import.meta.dirname, 'peers');

/** Starts the queues of others. They have a package of their own, which is installed when it is first needed. */
export async function startPeers(callers: number): Promise<QueuePeer[]> {
  if (!existsSync(join(folder, 'node_modules'))) installPeers();
  const peers: QueuePeer[] = [];
  for (const file of ['graphile.ts', 'boss.ts']) {
    const peer = (await import(join(folder, file))) as { start(callers: number): Promise<QueuePeer> };
    peers.push(await peer.start(callers));
  }
  return peers;
}

function installPeers(): void {
  console.error('installing bench/peers (npm ci --prefix bench/peers)');
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--prefix', folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error('bench/peers could not be installed: npm ci --prefix bench/peers');
}
