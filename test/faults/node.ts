/** One node of the fault test: accepts, works, and dies at its crash point or by a signal. Both ledgers are files outside the database. */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { applied, createNode, createWorker, failed } from '../../src/actions/write/harness.fixture.ts';
import { groundOf, intake } from '../../src/operations/harness.fixture.ts';
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
const operations = createNode(ground, { leaseMs });

/** The effect at the provider: from here on a second time is a duplicate. */
function takeEffect(operationId: string, key: string, n: number): void {
  appendFileSync(PROVIDER_LEDGER, `${operationId}\t${key}\t${n}\n`);
}

const worker = createWorker(ground, {
  leaseMs,
  pollMs: 200,
  retryPolicy: { baseMs: 20, capMs: 200 },
  sender: {
    async send(item, context) {
      const { key = '', n = -1 } = item.request as { key?: string; n?: number };
      await sleep(Math.random() * 4);
      if (!context.mayStillSend()) return { kind: 'postponed', inMs: 0 };
      if (Math.random() < 0.1) return failed(item, true);
      takeEffect(item.operationId, key, n);
      await sleep(Math.random() * 4);
      return applied(item);
    },
  },
});
operations.onQueued((lane) => worker.hint(lane));
await worker.start();
process.stdout.write('ready\n');

/** A caller: one request after the other, each written down once it was answered. */
async function client(at: number): Promise<void> {
  const key = `${process.pid}-${at}`;
  for (let n = 0; ; n++) {
    const given = intake({
      laneId: lanes[(at * 7 + n) % 3] ?? '',
      request: { type: 'update', key, n },
      orderKeys: at % 2 === 0 ? [key] : null,
    });
    if (at === 7) {
      const { operationId, recorded } = await operations.perform(
        given,
        async ({ operationId: id }, context) => {
          await sleep(Math.random() * 4);
          if (!context.mayStillSend()) return [];
          takeEffect(id, '', n);
          return [{ kind: 'applied' }];
        },
      );
      if (recorded) appendFileSync(CLIENT_LEDGER, `${operationId}\n`);
    } else {
      // All items of one key in one lane or in several: the order holds over lanes, too.
      const { operationId } = await operations.acceptQueued(given);
      appendFileSync(CLIENT_LEDGER, `${operationId}\n`);
    }
    await sleep(Math.random() * 40);
  }
}

if (process.env['ACCEPT'] === 'no')
  process.on('SIGTERM', () => void worker.stop(5_000).then(() => process.exit(0)));
else await Promise.all(Array.from({ length: 8 }, (_, at) => client(at).catch(() => undefined)));
