import { randomUUID } from 'node:crypto';
import type { Database, Queryable } from '../kit/db/database.ts';
import { isDatabaseAway } from '../kit/db/faults.ts';
import type { Ground } from '../kit/ground.ts';
import { createLog } from '../kit/log.ts';
import { createMetrics } from '../kit/metrics.ts';
import { newId } from '../kit/ids.ts';
import { openNode } from '../lanes/store/lanes.ts';
import { load } from './store/load.ts';
import * as store from '../lanes/store/work.ts';
import type { TakeRequest } from '../lanes/store/work.ts';
import type { Intake, Operations, Settlement, WorkItem } from './index.ts';

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

/** A UUIDv7 of that time. */
export function idMadeAt(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${randomUUID().slice(15)}`;
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

/** What a worker has in its hands after a take, or a rescue. */
export async function take(db: Queryable, lanes: readonly TakeRequest[]): Promise<WorkItem[]> {
  return load(db, await store.take(db, lanes));
}
export async function rescue(db: Queryable, lanes: readonly TakeRequest[]): Promise<WorkItem[]> {
  return load(db, await store.rescue(db, lanes));
}

/** Accepts an operation of one record as started; answers how it ends when it was written, unless told otherwise. */
export async function startOne(
  operations: Operations,
  db: Queryable,
  given: Intake,
  end: Partial<Settlement> = {},
): Promise<Settlement> {
  const operationId = newId();
  const lane = { projectId: given.projectId, id: newId(), lease: randomUUID() };
  await openNode(db, lane, 60_000);
  const accepted = await operations.acceptMarked({ ...given, laneId: lane.id }, lane.lease, operationId);
  const { projectId: project, installationId, actionType, resource } = given;
  const result = `[${resource}] 1 record created.`;
  const details = { object: resource, attempt: '1' };
  return {
    projectId: project,
    operationId,
    installationId,
    actionType,
    resource,
    place: {},
    attempt: 1,
    seq: accepted?.seq ?? '',
    lease: lane.lease,
    mark: null,
    done: true,
    waitMs: 0,
    spent: true,
    status: 'success',
    result,
    errors: [],
    succeeded: 1,
    failed: 0,
    unknown: 0,
    outcomes: [{ index: 0, outcome: { kind: 'applied', recordId: '7' } }],
    log: { id: newId(), severity: 'info', message: { msg: result, operation_id: operationId, details } },
    ...end,
  };
}

/** The same, and records it; answers its id. */
export async function writeOne(
  operations: Operations,
  db: Queryable,
  given: Intake,
  end: Partial<Settlement> = {},
): Promise<string> {
  const settlement = await startOne(operations, db, given, end);
  await operations.ends.record(db, [settlement]);
  operations.ends.recorded([settlement]);
  return settlement.operationId;
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
    'operation_mark',
    'written_record',
    'ab_head',
    'ab_batch',
    'ab_turn',
  ];
  const text = tables.map((table) => `DELETE FROM ${table} WHERE ${ballast};`).join(' ');
  await database.raw(`${text} UPDATE clock SET shift = '0'`);
}
