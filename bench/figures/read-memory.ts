import { scaled, type Figure } from '../figure.ts';
import { residentMb } from '../process.ts';
import { startReads, type ReadStage } from '../reads.ts';

const few = scaled(50_000);
const many = scaled(1_000_000);

/** The most memory while so many are read. */
async function mostWhile({ stage, read }: ReadStage, contacts: number): Promise<number> {
  let most = 0;
  const watching = setInterval(() => (most = Math.max(most, residentMb(stage.pid))), 100);
  await read(contacts).finally(() => clearInterval(watching));
  return most;
}

export const readMemory: Figure = {
  id: 'read-memory',
  about: `the most resident memory while ${many} contacts are read into a webhook`,
  unit: 'MB',
  yardstick: `while ${few} are, before it in the same process`,
  goal: { of: 'ratio', atMost: 1.2 },
  once: true,
  prepare: async () => {
    const reads = await startReads();
    return {
      run: async () => {
        const yardstick = await mostWhile(reads, few);
        return { value: await mostWhile(reads, many), yardstick };
      },
      close: () => reads.close(),
    };
  },
};
