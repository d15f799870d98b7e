import type { Figure } from '../figure.ts';
import { closedLoad, type LoadTarget } from '../load.ts';
import { processorMs } from '../process.ts';
import { prepareProxy } from './proxy.ts';

const callers = 16;
const seconds = 3;

export const authUnknown: Figure = {
  id: 'auth-unknown',
  about: 'processor time of a request with a made-up API key',
  unit: 'µs',
  yardstick: 'a proxied request',
  goal: { of: 'ratio', atMost: 0.6 },
  prepare: async () => {
    const bench = await prepareProxy();
    const cost = async (target: LoadTarget): Promise<number> => {
      const before = processorMs(bench.stage.pid);
      const startedAt = performance.now();
      const { perSecond } = await closedLoad(target, callers, seconds);
      const requests = (perSecond * (performance.now() - startedAt)) / 1000;
      return ((processorMs(bench.stage.pid) - before) * 1000) / requests;
    };
    const madeUp = `svc_${'a'.repeat(12)}_${'b'.repeat(36)}`;
    const headers = { ...bench.headers, 'x-api-key': madeUp };
    const unknown: LoadTarget = { ...bench.viaProxy, headers, expect: 401, maySlowDown: true };
    return {
      close: () => bench.close(),
      run: async () => ({ value: await cost(unknown), yardstick: await cost(bench.viaProxy) }),
    };
  },
};
