import { setHeld } from '../deliveries.ts';
import { scaled, type Figure } from '../figure.ts';
import { untilDone } from '../queue.ts';
import { startEndpoints } from './deliver.ts';

const messages = scaled(100_000);

/** The same messages go twice to one destination, from its lane: first what was queued while it was held, then the replay. */
export const replay: Figure = {
  id: 'replay',
  about: `a replay of ${messages} webhooks of 2 KB to one endpoint`,
  unit: 'messages/s',
  yardstick: 'their first deliveries from the same lane',
  goal: { of: 'ratio', atLeast: 0.8 },
  once: true,
  prepare: async () => {
    const { database, receiver, lanes, call, projectId, queue, close } = await startEndpoints(1);
    const [lane] = lanes;
    if (!lane) throw new Error('there is one endpoint');
    const timed = async (begin: () => Promise<unknown>): Promise<number> => {
      await receiver.reset();
      const startedAt = Date.now();
      await begin();
      const { lastAt } = await receiver.until(messages);
      await untilDone(database, lanes, { everyMs: 20, withinMs: 30_000 });
      await database.raw('VACUUM work, lane, wake');
      return messages / ((lastAt - startedAt) / 1000);
    };
    return {
      run: async () => {
        await setHeld(database, lanes, true);
        await queue(Array.from({ length: messages }, () => lane));
        const yardstick = await timed(() => setHeld(database, lanes, false));
        const filter = { destination: lane.laneId };
        const value = await timed(() =>
          call('POST', `/v1/projects/${projectId}/deliveries:replay`, { filter }),
        );
        return { value, yardstick };
      },
      close,
    };
  },
};
