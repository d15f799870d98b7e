import { scaled, type Figure } from '../figure.ts';
import { startProvider } from '../provider.ts';
import { openQueuedWrites } from '../queued-writes.ts';
import { startStage } from '../stage.ts';

const groups = 20;
const writes = scaled(10_000);
/** Exchanges are written so long after their end at the most. */
const untilWrittenMs = 1_000;

/** The same writes through two services, one of which keeps no exchanges. */
export const attemptKept: Figure = {
  id: 'attempt-kept',
  about: `processor time of service and database for an asynchronous write whose exchange with the provider is kept, ${writes} of them`,
  unit: 'µs',
  yardstick: 'the same with SVC_EXCHANGE_KEEP_DAYS=0',
  goal: { of: 'ratio', atMost: 1.15 },
  prepare: async () => {
    const provider = await startProvider(groups);
    const open = async (keepDays: string) => {
      const stage = await startStage(provider.origin, {
        groups: provider.groups,
        env: { SVC_EXCHANGE_KEEP_DAYS: keepDays },
      });
      return { stage, load: await openQueuedWrites(stage) };
    };
    const [keeping, without] = [await open('7'), await open('0')];
    async function half({ load }: typeof keeping): Promise<number> {
      const before = load.spentMs();
      await load.write(writes);
      await load.untilDone();
      await new Promise((resolve) => setTimeout(resolve, untilWrittenMs));
      return ((load.spentMs() - before) / writes) * 1_000;
    }
    return {
      run: async () => ({ value: await half(keeping), yardstick: await half(without) }),
      close: async () => {
        for (const { load, stage } of [keeping, without]) {
          await load.close();
          await stage.close();
        }
        await provider.close();
      },
    };
  },
};
