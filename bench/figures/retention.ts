import { messagePartitions } from '../../src/deliveries/index.ts';
import { openDatabase, type Database } from '../../src/kit/db/database.ts';
import { keepPartitions } from '../../src/kit/db/partitions.ts';
import { scaled, type Figure } from '../figure.ts';
import { startStage } from '../stage.ts';

const messages = scaled(1_000_000);
const daysAgo = 40;
const keepDays = 30;
/** A statement is given half a minute. */
const perStatement = 50_000;

const project = `'0190a000-0000-7000-8000-00000000000b'::uuid`;
const dayStart = `date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '${daysAgo} days'`;
const id = `(left(svc_uuid_floor(${dayStart})::text, 24) || lpad(to_hex(n), 12, '0'))::uuid`;

/** What both have: a day of messages with their deliveries, as the partition of that day or as tables that nobody else uses. */
async function fill(database: Database, message: string, delivery: string): Promise<void> {
  for (let from = 1; from <= messages; from += perStatement) {
    const numbers = `generate_series(${from}, ${Math.min(messages, from + perStatement - 1)}) n`;
    await database.raw(
      `INSERT INTO ${message} (project_id, id, installation_id, group_ref, object, destination_id, page, slice, records, bytes, encoding, body, keys)
      SELECT ${project}, ${id}, ${project}, 'g', 'contacts', ${project}, 1, 0, 1, 600, 0, convert_to(repeat('x', 600), 'UTF8'), '[]' FROM ${numbers}`,
    );
    await database.raw(
      `INSERT INTO ${delivery} (project_id, message_id, destination_id, status, ended, attempts, first_at, last_at)
      SELECT ${project}, ${id}, ${project}, 'delivered', 'delivered', 1, now(), now() FROM ${numbers}`,
    );
  }
  await database.raw('CHECKPOINT').catch(() => undefined);
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Forgetting is timed with all that it does beside: its session, its lock and the look at the other partitions. */
export const retention: Figure = {
  id: 'retention',
  about: `to forget ${messages} messages with their deliveries`,
  unit: 'ms',
  yardstick: 'DROP TABLE of the same rows with the same indexes',
  goal: { of: 'ratio', atMost: 3 },
  once: true,
  prepare: async () => {
    const stage = await startStage('http://127.0.0.1:9', { groups: [], role: 'api' });
    const database = openDatabase({ url: stage.databaseUrl, poolSize: 2, applicationName: 'svc bench' });
    return {
      run: async () => {
        await keepPartitions(database, messagePartitions);
        for (const { table } of messagePartitions)
          await database.raw(
            `SELECT svc_make_partition('${table}', 'day', date_trunc('day', now() AT TIME ZONE 'UTC') - interval '${daysAgo} days', NULL, 90)`,
          );
        await fill(database, 'message', 'delivery');
        await database.raw(
          'CREATE TABLE alone_message (LIKE message INCLUDING ALL); CREATE TABLE alone_delivery (LIKE delivery INCLUDING ALL)',
        );
        await fill(database, 'alone_message', 'alone_delivery');
        const yardstick = await took(() => database.raw('DROP TABLE alone_message, alone_delivery'));
        const value = await took(() => keepPartitions(database, messagePartitions, keepDays));
        const [left] = await database.raw(
          `SELECT count(*)::int AS left FROM message WHERE id < svc_uuid_floor(now() - interval '${keepDays} days')`,
        );
        if (left?.['left'] !== 0) throw new Error('old messages are still there');
        return { value, yardstick };
      },
      async close() {
        await database.close();
        await stage.close();
      },
    };
  },
};
