import { scaled, type Figure } from '../figure.ts';
import { untilDone } from '../queue.ts';
import { p95 } from './deliver-isolated.ts';
import { startEndpoints, type Endpoints } from './deliver.ts';

const messages = scaled(60_000);

/** What is new goes to the same destination as what is sent again. */
export const replayLive: Figure = {
  id: 'replay-live',
  about: `p95 of webhooks to one endpoint, 200 a second, while ${messages} others are replayed to it`,
  unit: 'ms',
  yardstick: 'without the replay',
  goal: { of: 'ratio', atMost: 1.5 },
  prepare: async () => {
    const endpoints = await startEndpoints(1);
    const { receiver, lanes, queue, call, projectId, close } = endpoints;
    const [lane] = lanes;
    if (!lane) throw new Error('there is one endpoint');
    await queue(Array.from({ length: messages }, () => lane));
    await receiver.until(messages);
    const to = new Date().toISOString();
    return {
      run: async () => {
        await settled(endpoints);
        const yardstick = await p95(endpoints, lanes);
        const filter = { destination: lane.laneId, to };
        const path = `/v1/projects/${projectId}`;
        const { replayId } = await call<{ replayId: string }>('POST', `${path}/deliveries:replay`, {
          filter,
        });
        await receiver.reset({ live: true });
        const value = await p95(endpoints, lanes);
        const { status } = await call<{ status: string }>('GET', `${path}/replays/${replayId}`);
        if (status !== 'running') throw new Error(`the replay was over before: ${status}`);
        await call('POST', `${path}/replays/${replayId}:cancel`);
        return { value, yardstick };
      },
      close,
    };
  },
};

/** Nothing waits, and nothing has come. */
async function settled({ database, lanes, receiver }: Endpoints): Promise<void> {
  await untilDone(database, lanes, { everyMs: 50, withinMs: 60_000 });
  await database.raw('VACUUM work, lane, wake');
  await receiver.reset();
}
