import type { Figure } from '../figure.ts';
import { closedLoad, type LoadTarget } from '../load.ts';
import { prepareProxy } from './proxy.ts';

const megabytes = 5;
const callers = 8;
const seconds = 4;

export const proxyBytes: Figure = {
  id: 'proxy-bytes',
  about: `${megabytes} MB each way through the proxy, ${callers} callers`,
  unit: 'MB/s',
  yardstick: 'a bare node:http → undici pipe',
  goal: { of: 'ratio', atLeast: 0.9 },
  prepare: async () => {
    const bench = await prepareProxy(megabytes * 1_000_000);
    const body = Buffer.alloc(megabytes * 1_000_000, 'x');
    const speed = async (target: LoadTarget): Promise<number> => {
      const done = await closedLoad({ ...target, method: 'POST', body }, callers, seconds);
      return done.perSecond * megabytes * 2;
    };
    return {
      close: () => bench.close(),
      run: async () => ({ value: await speed(bench.viaProxy), yardstick: await speed(bench.viaPipe) }),
    };
  },
};
