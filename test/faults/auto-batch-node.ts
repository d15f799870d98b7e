/** One node of the auto-batch fault test: gathers, works, and dies at its crash point or by a signal. Both ledgers are files. */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type WorkItem, createOperations } from '../../src/operations/index.ts';
import type { ItemResult } from '../../src/actions/write/send/sender.ts';
import { createWorker, failed } from '../../src/actions/write/harness.fixture.ts';
import { groundOf, intake } from '../../src/operations/harness.fixture.ts';
import { createAutoBatches } from '../../src/actions/write/auto-batch/auto-batches.ts';
import { openBatches } from '../../src/actions/write/auto-batch/store.ts';
import { openDatabase } from '../../src/kit/db/database.ts';

const {
  DATABASE_URL = '',
  CLIENT_LEDGER = '',
  PROVIDER_LEDGER = '',
  LANES = '',
  LEASE_MS = '',
} = process.env;
const lanes = LANES.split(',');
const leaseMs = Number(LEASE_MS);
const database = openDatabase({ url: DATABASE_URL, poolSize: 8, applicationName: 'svc fault node' });
database.raw('SELECT 1').catch(() => process.exit(3));
const ground = groundOf(database);
const operations = createOperations(ground);
const autoBatches = createAutoBatches(ground, operations);

async function send(item: WorkItem, mayStillSend: () => boolean): Promise<ItemResult> {
  await sleep(Math.random() * 4);
  if (!mayStillSend()) return { kind: 'postponed', inMs: 0 };
  if (Math.random() < 0.1) return failed(item, true);
  // One provider call for all: its effects stand together, or not at all.
  const effects = item.records.map(({ payload }) => `${item.operationId}\t${String(payload['tag'])}\n`);
  appendFileSync(PROVIDER_LEDGER, effects.join(''));
  await sleep(Math.random() * 4);
  return { kind: 'outcomes', outcomes: item.records.map(() => ({ kind: 'applied' })) };
}

const worker = createWorker(ground, {
  gathers: openBatches,
  leaseMs,
  pollMs: 200,
  retryPolicy: { baseMs: 20, capMs: 200 },
  sender: {
    send: (item, context) => send(item, () => context.mayStillSend()),
  },
});
operations.onQueued((lane) => worker.hint(lane));
await worker.start();
process.send?.('up');

/** A caller: one request after the other, each written down once it was answered. Every second one writes to one record. */
async function client(at: number): Promise<void> {
  const name = `${process.pid}-${at}`;
  for (let n = 0; ; n++) {
    const lane = lanes[(at >> 1) % lanes.length] ?? '';
    const { records: _, ...common } = intake({ laneId: lane, installationId: lane });
    const tag = `${name}-${n}`;
    const orderKey = at % 2 === 0 ? name : null;
    const entry = { ...common, record: { tag }, orderKey, maxDelaySeconds: 1, deadlineSeconds: 600 };
    try {
      const { operationId } = await autoBatches.accept(entry);
      appendFileSync(CLIENT_LEDGER, `${operationId}\t${tag}\n`);
    } catch {
      await sleep(100);
    }
    await sleep(Math.random() * 30);
  }
}

if (process.env['ACCEPT'] === 'no')
  process.on('SIGTERM', () => void worker.stop(5_000).then(() => process.exit(0)));
else await Promise.all(Array.from({ length: 12 }, (_, at) => client(at)));
