import { scaled, type Figure } from '../figure.ts';
import { startPeers } from '../start-peers.ts';
import type { QueuePeer } from '../queue-under-test.ts';
import { startOurs } from './queue-ours.ts';

const callers = 64;
const items = scaled(10_000);
const giveUpMs = 120_000;

/** From the first item accepted to the last one done; each caller's next when its last is committed. */
async function itemsPerSecond(peer: QueuePeer): Promise<number> {
  const before = await peer.done();
  const startedAt = performance.now();
  let sent = 0;
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (sent < items) await peer.enqueue(sent++);
    }),
  );
  const isDone = async (): Promise<boolean> =>
    (await peer.done()) - before >= items && (await peer.settled());
  while (!(await isDone())) {
    if (performance.now() - startedAt > giveUpMs) throw new Error('a queue did not end');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return items / ((performance.now() - startedAt) / 1000);
}

export const queuePeer: Figure = {
  id: 'queue-peer',
  about: `no-op items from ${callers} callers, each accepted with its operation row, to done`,
  unit: 'items/s',
  yardstick: 'the better of pg-boss and graphile-worker, enqueued in the transaction of that row',
  goal: { of: 'ratio', atLeast: 1.5 },
  prepare: async () => {
    const peers = await startPeers(callers);
    const ours = await startOurs();
    return {
      run: async () => {
        const value = await itemsPerSecond(ours);
        const theirs: number[] = [];
        for (const peer of peers) theirs.push(await itemsPerSecond(peer));
        return { value, yardstick: Math.max(...theirs) };
      },
      close: async () => {
        for (const peer of [ours, ...peers]) await peer.close();
      },
    };
  },
};
