import { writeHandler } from './actions/write/index.ts';
import { createWorker, type Worker } from './operations/index.ts';
import { createEventKeeper } from './events/index.ts';
import type { App } from './app.ts';
import type { Config } from './config.ts';

/** Hands each room's jobs to the lanes. */
export async function startWorker(app: App, config: Config): Promise<Worker> {
  const worker = createWorker(app.ground, {
    handlers: { write: writeHandler(app) },
    shareOf: ({ projectId, id }) => app.connections.originOf(projectId, id),
    leaseMs: config.leaseMs,
  });
  app.operations.onQueued((laneId) => worker.hint(laneId));
  await worker.start();
  const { keepAlive } = app.connections;
  keepAlive.start();
  const events = createEventKeeper(app.ground, config.auditKeepDays);
  events.start();
  return {
    ...worker,
    async stop(withinMs) {
      await Promise.all([worker.stop(withinMs), keepAlive.stop(), events.stop()]);
    },
  };
}
