import type { Figure } from '../figure.ts';
import { findNginx, startNginx } from '../nginx.ts';
import { connections, prepareProxy, ratesOf } from './proxy.ts';

const program = findNginx();

export const proxyNginx: Figure = {
  id: 'proxy-nginx',
  about: `proxied requests, 2 KB bodies, ${connections} connections`,
  unit: 'requests/s',
  yardstick: 'nginx with one worker',
  goal: { of: 'ratio', atLeast: 0.25 },
  ...(program === undefined
    ? { skipped: 'nginx is not installed (Debian: apt-get install nginx-light)' }
    : {}),
  prepare: async () => {
    const bench = await prepareProxy();
    const nginx = await startNginx(program ?? '', bench.upstreamPort);
    const viaNginx = { ...bench.viaPipe, origin: `http://127.0.0.1:${nginx.port}` };
    return {
      run: () => ratesOf(bench, viaNginx),
      close: async () => {
        await nginx.close();
        await bench.close();
      },
    };
  },
};
