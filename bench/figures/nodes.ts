import { scaled, type Figure, type Pair } from '../figure.ts';
import { startProvider, type Provider } from '../provider.ts';
import { openQueuedWrites, type QueuedWrites } from '../queued-writes.ts';
import { startStage } from '../stage.ts';

const groups = 20;
const writes = scaled(10_000);
const parts = ['accept', 'drain'] as const;

async function open(provider: Provider, nodes: number): Promise<QueuedWrites> {
  const stage = await startStage(provider.origin, { groups: provider.groups });
  const others = await Promise.all(Array.from({ length: nodes - 1 }, () => stage.startAnother()));
  const load = await openQueuedWrites(stage, [stage, ...others]);
  return {
    ...load,
    close: async () => {
      await load.close();
      await stage.close();
    },
  };
}

/** Writes that are accepted, and then done, in a second of processor time. */
async function ratesOf(load: QueuedWrites): Promise<Record<(typeof parts)[number], number>> {
  const rate = async (work: () => Promise<void>): Promise<number> => {
    const before = load.spentMs();
    await work();
    return writes / ((load.spentMs() - before) / 1_000);
  };
  await load.pause(true);
  const accept = await rate(() => load.write(writes));
  const drain = await rate(async () => {
    await load.pause(false);
    await load.untilDone();
  });
  return { accept, drain };
}

/** What a second of processor time does when several processes share the work of one. */
const nodesFigure = (nodes: number): Figure => ({
  id: `nodes-${nodes}`,
  about: `${writes} asynchronous writes accepted over HTTP, then done, by ${nodes} processes over one PostgreSQL: whichever of the two loses more, per second of processor time of processes and database`,
  unit: 'writes/s',
  yardstick: 'the same by one process',
  goal: { of: 'ratio', atLeast: 0.9 },
  prepare: async () => {
    const provider = await startProvider(groups);
    const [several, one] = [await open(provider, nodes), await open(provider, 1)];
    return {
      run: async () => {
        const [value, yardstick] = [await ratesOf(several), await ratesOf(one)];
        const pairs = parts.map((part): Pair => ({
          value: value[part],
          yardstick: yardstick[part],
          note: `${part}: ${Math.round(value[part])} of ${Math.round(yardstick[part])}`,
        }));
        const ratios = pairs.map((pair) => pair.value / pair.yardstick);
        const worst = pairs[ratios.indexOf(Math.min(...ratios))] as Pair;
        return { ...worst, note: pairs.map(({ note }) => note).join(', ') };
      },
      close: async () => {
        await several.close();
        await one.close();
        await provider.close();
      },
    };
  },
});

export const nodes2 = nodesFigure(2);
export const nodes4 = nodesFigure(4);
