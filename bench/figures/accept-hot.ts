import type { Figure } from '../figure.ts';
import { acceptCallers, acceptRecord, insertYardstick, startAcceptance, type Acceptance } from './accept.ts';

/** As many objects as a manifest may have. */
const keys = 1_000;
const objects = ['contacts', ...Array.from({ length: keys - 1 }, (_, n) => `p_object_${n}`)];
const body = JSON.stringify({
  groupRef: 'g',
  type: 'create',
  mode: 'asynchronous',
  autoBatchPolicy: { maxDelayMinutes: 60 },
  record: acceptRecord,
});

const hot = (acceptance: Acceptance): Promise<number> => acceptance.acceptsPerSecond(() => 'contacts', body);

/** Every request of the run goes into batches of one key. */
export const acceptHot: Figure = {
  id: 'accept-hot',
  about: `auto-batched writes accepted over HTTP, ${acceptCallers} callers, one hot key`,
  unit: 'writes/s',
  yardstick: insertYardstick,
  goal: { of: 'ratio', atLeast: 1 },
  prepare: async () => {
    const acceptance = await startAcceptance();
    return {
      run: async () => ({ value: await hot(acceptance), yardstick: await acceptance.insertsPerSecond(body) }),
      close: () => acceptance.close(),
    };
  },
};

/** What one hot key costs beside many cool ones. */
export const acceptHotKeys: Figure = {
  id: 'accept-hot-keys',
  about: `auto-batched writes accepted over HTTP, ${acceptCallers} callers, one hot key`,
  unit: 'writes/s',
  yardstick: `the same over ${keys} keys`,
  goal: { of: 'ratio', atLeast: 0.85 },
  prepare: async () => {
    const acceptance = await startAcceptance(objects);
    let n = 0;
    const spread = (): string => objects[n++ % keys] ?? '';
    return {
      run: async () => ({
        value: await hot(acceptance),
        yardstick: await acceptance.acceptsPerSecond(spread, body),
      }),
      close: () => acceptance.close(),
    };
  },
};
