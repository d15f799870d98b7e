import { createScheduler, readKind } from './actions/read/index.ts';
import { createBatchKeeper, writeKind } from './actions/write/index.ts';
import { createDeadLetterTeller, createMessageKeeper } from './deliveries/index.ts';
import { createActivityKeeper, createEventKeeper } from './events/index.ts';
import { createEraser } from './retention/index.ts';
import { createWorker, type Worker } from './lanes/index.ts';
import { createHousekeeping } from './operations/index.ts';
import { readDepsOf, type App } from './app.ts';
import type { Config } from './config.ts';

/** Hands each room's jobs to the lanes, and starts what the rooms do from time to time. */
export async function startWorker(app: App, config: Config, afterOutage: boolean): Promise<Worker> {
  const { ground, connections, operations, deliveries } = app;
  const reads = readDepsOf(app, config);
  const worker = createWorker(ground, {
    kinds: [writeKind(app), readKind(reads), ...deliveries.kinds],
    shareOf: async ({ projectId, id }) =>
      (await deliveries.shareOf(projectId, id)) ?? connections.shareOf(projectId, id),
    leaseMs: config.leaseMs,
  });
  operations.onQueued((laneId) => worker.hint(laneId));
  deliveries.onQueued((destinationId) => worker.hint(destinationId));
  await worker.start(afterOutage);
  const periodic = [
    createHousekeeping(ground.database, ground.log, {
      operations: config.operationKeepDays,
      exchanges: config.exchangeKeepDays,
    }),
    createBatchKeeper(ground),
    connections.keepAlive,
    createScheduler(reads),
    createEventKeeper(ground, { audit: config.auditKeepDays, events: config.eventKeepDays }),
    createActivityKeeper(ground),
    createMessageKeeper(ground, config.messageKeepDays),
    createDeadLetterTeller(ground),
    createEraser(ground, app.retention.histories),
  ];
  for (const one of periodic) one.start();
  return {
    ...worker,
    async stop(withinMs) {
      await Promise.all([worker.stop(withinMs), ...periodic.map((one) => one.stop())]);
    },
  };
}
