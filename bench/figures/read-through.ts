import { scaled, type Figure } from '../figure.ts';
import { startReads } from '../reads.ts';

const contacts = scaled(50_000);

export const readThrough: Figure = {
  id: 'read-through',
  about: `${contacts} contacts read on demand, mapped, signed and at a webhook`,
  unit: 'records/s',
  yardstick: 'a bare loop of GET, parse, rename, write, sign and POST',
  goal: { of: 'ratio', atLeast: 0.6 },
  prepare: async () => {
    const reads = await startReads();
    return {
      run: async () => ({ value: await reads.read(contacts), yardstick: await reads.readBare(contacts) }),
      close: () => reads.close(),
    };
  },
};
