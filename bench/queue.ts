import type { Database } from '../src/kit/db/database.ts';
import { statement } from '../src/kit/db/statement.ts';
import { newId } from '../src/kit/ids.ts';
import { insertGroup } from '../src/operations/store/accept.ts';
import { pause } from '../src/lanes/index.ts';
import type { Intake } from '../src/operations/index.ts';
import { plainRecord } from './provider.ts';

/** What of an installation stands in its operations. */
export interface QueueTarget {
  projectId: string;
  integrationId: string;
  installationId: string;
  configId: string;
  laneId: string;
}

const findTargets = statement(
  'bench_targets',
  `SELECT project_id AS "projectId", integration_id AS "integrationId", id AS "installationId", config_id AS "configId",
    connection_id AS "laneId" FROM installation ORDER BY id`,
);
const findWork = statement(
  'bench_work',
  'SELECT EXISTS (SELECT FROM work WHERE project_id = $1 AND lane_id = ANY ($2)) AS found',
);

/** Of every installation of the stage, in the order in which they were made. */
export function targetsOf(database: Database): Promise<QueueTarget[]> {
  return database.rows<QueueTarget>(findTargets);
}

/** A target that belongs to no installation: for handlers that look at none. */
export function looseTarget(projectId: string): QueueTarget {
  const [installationId, laneId] = [newId(), newId()];
  return { projectId, integrationId: newId(), installationId, configId: newId(), laneId };
}

/** A queued create of one contact, as the write action accepts it. */
export function createOf({ laneId, ...target }: QueueTarget): Intake {
  return {
    ...target,
    laneId,
    actionType: 'write',
    resource: 'contacts',
    request: {
      type: 'create',
      kind: 'create',
      mode: 'asynchronous',
      form: 'single',
      objectName: 'contacts',
      allOrNone: false,
      headers: [],
      provider: 'hubspot',
      connectionId: laneId,
    },
    records: [{ fields: plainRecord }],
    deadlineSeconds: 24 * 3_600,
  };
}

const perStatement = 1_000;

/** Accepts so many creates for each target, by the statement of the product, a thousand at a time. */
export async function enqueue(
  database: Database,
  targets: readonly QueueTarget[],
  each: number,
): Promise<void> {
  const total = targets.length * each;
  for (let from = 0; from < total; from += perStatement) {
    const rows = Array.from({ length: Math.min(perStatement, total - from) }, (_, n) => {
      const intake = createOf(targets[Math.floor((from + n) / each)] as QueueTarget);
      return {
        ...intake,
        operationId: newId(),
        lease: null,
        payloads: intake.records.map((record) => JSON.stringify(record)),
      };
    });
    await insertGroup(database, rows);
  }
}

/** Nothing is taken from paused lanes; resumed ones are announced as the product does it. */
export async function setPaused(
  database: Database,
  targets: readonly QueueTarget[],
  paused: boolean,
): Promise<void> {
  await Promise.all(targets.map(({ projectId, laneId }) => pause(database, projectId, laneId, paused)));
  if (!paused) await announce(database);
}

/** What a node does after its commits. */
export async function announce(database: Database): Promise<void> {
  await database.raw('NOTIFY svc_work');
}

/** Resolves when nothing of the targets is left to be done; throws after the time. */
export async function untilDone(
  database: Database,
  targets: readonly Pick<QueueTarget, 'projectId' | 'laneId'>[],
  { everyMs, withinMs }: { everyMs: number; withinMs: number },
): Promise<void> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const [row] = await database.rows<{ found: boolean }>(findWork, [
      targets[0]?.projectId,
      targets.map(({ laneId }) => laneId),
    ]);
    if (row?.found === false) return;
    if (performance.now() > giveUpAt) throw new Error(`the queue was not empty after ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
