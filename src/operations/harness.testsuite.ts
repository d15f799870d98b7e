import { randomUUID } from 'node:crypto';
import { isDatabaseAway, type Database, type Queryable } from '../kit/db/database.ts';
import type { Ground } from '../kit/ground.ts';
import { createLog } from '../kit/log.ts';
import { createMetrics } from '../kit/metrics.ts';
import { createWorker as createLaneWorker, type Gathers, type Worker } from '../lanes/index.ts';
import {
  createHousekeeping,
  ledgerKind,
  endsOf,
  type Intake,
  type ItemResult,
  type WorkHandler,
  type WorkItem,
} from './index.ts';
import * as store from '../lanes/store/work.ts';
import type { TakeRequest } from '../lanes/store/work.ts';
import { load } from './store/load.ts';
import { defaultRetryPolicy, type RetryPolicy } from './next-step.ts';

/** The parts of the ground that the ledger stands on; the others are never touched by it. */
export function groundOf(database: Database): Ground {
  return {
    database,
    log: createLog(process.env['TEST_LOG'] ?? 'silent'),
    metrics: createMetrics(),
    limits: {},
    publicUrl: '',
  } as unknown as Ground;
}

export const projectId = '0190a000-0000-7000-8000-000000000001';

/** A single create of one contact, unless said otherwise. */
export function intake(given: Partial<Intake> = {}): Intake {
  return {
    projectId,
    integrationId: randomUUID(),
    installationId: randomUUID(),
    configId: randomUUID(),
    laneId: randomUUID(),
    actionType: 'write',
    resource: 'contacts',
    request: { type: 'create' },
    records: [{ fields: { email: 'ada@example.com' } }],
    deadlineSeconds: 3_600,
    ...given,
  };
}

export type { Worker };

/** What a worker has in its hands after a take, or a rescue. */
export async function take(db: Queryable, lanes: readonly TakeRequest[]): Promise<WorkItem[]> {
  return load(db, await store.take(db, lanes));
}
export async function rescue(db: Queryable, lanes: readonly TakeRequest[]): Promise<WorkItem[]> {
  return load(db, await store.rescue(db, lanes));
}

type LaneOptions = Omit<Parameters<typeof createLaneWorker>[1], 'kinds'>;

/** A worker of the ledger's own, with its housekeeping, whose writes the handler does. */
export function createWorker(
  ground: Ground,
  {
    handlers,
    retryPolicy,
    gathers,
    ...options
  }: LaneOptions & {
    handlers: { write?: WorkHandler };
    retryPolicy?: Partial<RetryPolicy>;
    gathers?: Gathers;
  },
): Worker {
  const ends = endsOf(ground);
  const policy = { ...defaultRetryPolicy, ...retryPolicy };
  const kinds = handlers.write ? [ledgerKind('write', ends, handlers.write, { policy, gathers })] : [];
  const worker = createLaneWorker(ground, { ...options, kinds });
  const housekeeping = createHousekeeping(ground.database, ground.log);
  return {
    ...worker,
    async start() {
      housekeeping.start();
      await worker.start();
    },
    async stop(deadlineMs) {
      await worker.stop(deadlineMs);
      await housekeeping.stop();
      await ends.close();
    },
  };
}

/** Says of each item what the function says. */
export function handlerOf(each: (item: WorkItem) => ItemResult | Promise<ItemResult>): WorkHandler {
  return { execute: async (item) => each(item) };
}

export function applied(item: WorkItem): ItemResult {
  return {
    kind: 'outcomes',
    outcomes: item.records.map(({ index }) => ({ kind: 'applied', recordId: `r${index}` })),
  };
}

export function failed(item: WorkItem, retryable: boolean, retryAfterMs?: number): ItemResult {
  return {
    kind: 'outcomes',
    outcomes: item.records.map(() => ({
      kind: 'notApplied',
      failure: {
        category: retryable ? 'rateLimit' : 'validation',
        retryable,
        message: retryable ? 'too many requests' : 'email is not an address',
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      },
    })),
  };
}

/** Waits until the condition holds; while the database is away, it does not. Throws after the time. */
export async function until(
  what: string,
  holds: () => Promise<boolean> | boolean,
  timeoutMs = 10_000,
): Promise<void> {
  const endsAt = performance.now() + timeoutMs;
  while (!(await unlessAway(holds))) {
    if (performance.now() > endsAt) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
  }
}

async function unlessAway(holds: () => Promise<boolean> | boolean): Promise<boolean> {
  try {
    return await holds();
  } catch (error) {
    if (isDatabaseAway(error)) return false;
    throw error;
  }
}

const ballast = `project_id <> '00000000-0000-0000-0000-000000000000'`;

/** Rows of a table, `lane WHERE kind = 'node'`; the planner's ballast is not counted. */
export async function count(
  database: Database,
  text: string,
  values: readonly unknown[] = [],
): Promise<number> {
  const [, table = '', rest = ''] = /^(\w+)(.*)$/s.exec(text) ?? [];
  const from = `(SELECT * FROM ${table} WHERE ${ballast}) AS ${table} ${rest}`;
  const rows = await database.raw(`SELECT count(*)::int AS n FROM ${from}`, values);
  return rows[0]?.['n'] as number;
}

/** Empties the ledger and sets its clock right. */
export async function clearLedger(database: Database): Promise<void> {
  const tables = [
    'work',
    'turn',
    'lane',
    'wake',
    'operation',
    'record',
    'operation_log',
    'ab_head',
    'ab_batch',
    'ab_turn',
  ];
  const text = tables.map((table) => `DELETE FROM ${table} WHERE ${ballast};`).join(' ');
  await database.raw(`${text} UPDATE clock SET shift = '0'`);
}
