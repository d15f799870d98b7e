import { scaled, type Figure } from '../figure.ts';
import { startProvider } from '../provider.ts';
import { compareWrites } from '../queued-writes.ts';

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
    const envs = [{ SVC_EXCHANGE_KEEP_DAYS: '7' }, { SVC_EXCHANGE_KEEP_DAYS: '0' }] as const;
    const two = await compareWrites(provider, envs, { writes, settleMs: untilWrittenMs });
    return {
      run: () => two.run(),
      close: async () => {
        await two.close();
        await provider.close();
      },
    };
  },
};
