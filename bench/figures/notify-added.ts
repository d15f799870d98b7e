import { makeDestinations } from '../deliveries.ts';
import { scaled, type Figure } from '../figure.ts';
import { startProvider } from '../provider.ts';
import { openQueuedWrites } from '../queued-writes.ts';
import { startReceiver } from '../receiver.ts';
import { startStage } from '../stage.ts';

const groups = 20;
const writes = scaled(10_000);

/** Each half accepts its writes over HTTP and waits until all of them, and their notifications, are done. */
export const notifyAdded: Figure = {
  id: 'notify-added',
  about: `processor time of service and database for an asynchronous write of which a webhook is told, ${writes} of them`,
  unit: 'µs',
  yardstick: 'the same without a route',
  goal: { of: 'ratio', atMost: 1.5 },
  prepare: async () => {
    const provider = await startProvider(groups);
    const receiver = await startReceiver(1);
    const stage = await startStage(provider.origin, { groups: provider.groups });
    const load = await openQueuedWrites(stage);
    const [lane] = await makeDestinations(stage, [{ type: 'webhook', metadata: { url: receiver.urls[0] } }]);
    async function half(routes: readonly object[]): Promise<number> {
      await stage.call('PUT', `/v1/projects/${stage.projectId}/notifications`, { routes });
      await receiver.reset();
      const before = load.spentMs();
      await load.write(writes);
      if (routes.length > 0) await receiver.until(writes);
      await load.untilDone(lane ? [lane] : []);
      return ((load.spentMs() - before) / writes) * 1_000;
    }
    return {
      run: async () => ({
        value: await half([{ eventTypes: ['write.async.done'], destination: 'd0' }]),
        yardstick: await half([]),
      }),
      close: async () => {
        await load.close();
        await stage.close();
        await receiver.close();
        await provider.close();
      },
    };
  },
};
