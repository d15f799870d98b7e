import { createLog } from '../../src/kit/log.ts';
import { createMetrics } from '../../src/kit/metrics.ts';
import type { Ground } from '../../src/kit/ground.ts';
import { newId } from '../../src/kit/ids.ts';
import { createWorker } from '../../src/lanes/index.ts';
import { kindOf } from '../../src/actions/write/kind.ts';
import type { Sender } from '../../src/actions/write/send/sender.ts';
import { createOperations } from '../../src/operations/index.ts';
import { makeLedger } from '../postgres.ts';
import { createOf, looseTarget } from '../queue.ts';
import type { QueuePeer } from '../queue-under-test.ts';

const lanes = 100;

/** Says of every record that it was applied, and does nothing. */
const noOp: Sender = {
  send: async ({ records }) => ({
    kind: 'outcomes',
    outcomes: records.map(() => ({ kind: 'applied', recordId: '1' })),
  }),
};

/** Our own ledger and worker, as one process of the product runs them, over a hundred lanes. */
export async function startOurs(): Promise<QueuePeer> {
  const { database, close } = await makeLedger(20);
  // The ledger stands on these parts of the ground only.
  const ground = { database, log: createLog('error'), metrics: createMetrics() } as unknown as Ground;
  const operations = createOperations(ground);
  let done = 0;
  const worker = createWorker(ground, {
    kinds: [
      kindOf(
        operations.ends,
        counting(noOp, () => (done += 1)),
      ),
    ],
  });
  operations.onQueued((laneId) => worker.hint(laneId));
  await worker.start();
  const projectId = newId();
  const targets = Array.from({ length: lanes }, () => looseTarget(projectId));
  return {
    async enqueue(n) {
      const target = targets[n % lanes];
      if (target) await operations.acceptQueued(createOf(target));
    },
    done: async () => done,
    async settled() {
      const [row] = await database.raw('SELECT count(*)::int AS left FROM work WHERE project_id = $1', [
        projectId,
      ]);
      return row?.['left'] === 0;
    },
    async close() {
      await worker.stop(5_000);
      await operations.close();
      await close();
    },
  };
}

function counting(sender: Sender, add: () => void): Sender {
  return {
    async send(item, context) {
      const result = await sender.send(item, context);
      add();
      return result;
    },
  };
}
