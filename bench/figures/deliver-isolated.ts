import type { DestinationLane } from '../deliveries.ts';
import { scaled, type Figure } from '../figure.ts';
import { announce } from '../queue.ts';
import { startEndpoints, type Endpoints } from './deliver.ts';

const perSecond = 200;
const everyMs = 50;
const bursts = scaled(10_000) / everyMs;
const backlog = 1_000;

/** The 95th of a hundred, in milliseconds from the making of a message to its receipt, at a steady rate to these. */
export async function p95(
  { database, receiver, queue }: Endpoints,
  to: readonly DestinationLane[],
): Promise<number> {
  const each = (perSecond * everyMs) / 1_000;
  const startedAt = performance.now();
  for (let burst = 0; burst < bursts; burst += 1) {
    const next = Array.from({ length: each }, (_, n) => to[(burst * each + n) % to.length]);
    await queue(next.filter((lane) => lane !== undefined));
    await announce(database);
    const restMs = startedAt + (burst + 1) * everyMs - performance.now();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, restMs)));
  }
  const { tookMs } = await receiver.until(bursts * each);
  const sorted = tookMs.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.95)] ?? NaN;
}

export const deliverIsolated: Figure = {
  id: 'deliver-isolated',
  about: `p95 of webhooks to 999 endpoints, ${perSecond} a second, beside one that hangs with ${backlog} queued`,
  unit: 'ms',
  yardstick: 'without that one',
  goal: { of: 'ratio', atMost: 2 },
  prepare: async () => {
    const endpoints = await startEndpoints();
    const { database, receiver, lanes, queue, close } = endpoints;
    let hanging = 0;
    return {
      run: async () => {
        // Each time another one, of which nothing is known yet.
        hanging += 1;
        const lane = lanes[hanging];
        if (!lane) throw new Error('no endpoint is left');
        const healthy = lanes.filter((one) => one !== lane);
        await receiver.reset();
        const yardstick = await p95(endpoints, healthy);
        await receiver.reset({ hanging: [hanging] });
        await queue(Array.from({ length: backlog }, () => lane));
        await announce(database);
        await new Promise((resolve) => setTimeout(resolve, 500));
        const value = await p95(endpoints, healthy);
        await drop(endpoints, lane);
        return { value, yardstick };
      },
      close,
    };
  },
};

/** What was not answered breaks off, and what waits is given up. */
async function drop(
  { database, receiver }: Endpoints,
  lane: { projectId: string; laneId: string },
): Promise<void> {
  await receiver.reset();
  for (let left = 1; left > 0;) {
    const of = [lane.projectId, lane.laneId];
    await database.raw('DELETE FROM work WHERE project_id = $1 AND lane_id = $2 AND state = 0', of);
    const rows = await database.raw('SELECT FROM work WHERE project_id = $1 AND lane_id = $2', of);
    left = rows.length;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await database.raw('VACUUM work, lane, wake');
}
