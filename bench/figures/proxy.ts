import type { Figure, Pair } from '../figure.ts';
import { closedLoad, openLoad, type LoadTarget } from '../load.ts';
import { startServer, startStage, type Stage } from '../stage.ts';

export interface ProxyBench {
  stage: Stage;
  /** The headers that select the installation. */
  headers: Record<string, string>;
  viaProxy: LoadTarget;
  viaPipe: LoadTarget;
  upstreamPort: number;
  close(): Promise<void>;
}

export const connections = 64;
const seconds = 4;

/** The proxy and the bare pipe before one upstream, which answers so many bytes. */
export async function prepareProxy(answerBytes = 2_000): Promise<ProxyBench> {
  const upstream = await startServer('upstream.ts', String(answerBytes));
  const pipe = await startServer('pipe.ts', String(upstream.port));
  const stage = await startStage(`http://127.0.0.1:${upstream.port}`);
  const headers = {
    'x-api-key': stage.apiKey,
    'x-svc-proxy-version': '1',
    'x-svc-project-id': stage.projectId,
    'x-svc-installation-id': stage.installationId,
  };
  const call = { path: '/crm/v3/objects/contacts?limit=10', method: 'GET' as const, headers };
  return {
    stage,
    headers,
    viaProxy: { ...call, origin: stage.proxy },
    viaPipe: { ...call, origin: `http://127.0.0.1:${pipe.port}` },
    upstreamPort: upstream.port,
    close: async () => {
      await stage.close();
      await Promise.all([pipe.close(), upstream.close()]);
    },
  };
}

/** Requests per second through the proxy, and through what it is compared with. */
export async function ratesOf({ viaProxy }: ProxyBench, other: LoadTarget): Promise<Pair> {
  return {
    value: (await closedLoad(viaProxy, connections, seconds)).perSecond,
    yardstick: (await closedLoad(other, connections, seconds)).perSecond,
  };
}

export const proxyRps: Figure = {
  id: 'proxy-rps',
  about: `proxied requests, 2 KB bodies, ${connections} connections`,
  unit: 'requests/s',
  yardstick: 'a bare node:http → undici pipe',
  goal: { of: 'ratio', atLeast: 0.75 },
  prepare: async () => {
    const bench = await prepareProxy();
    return {
      close: () => bench.close(),
      run: () => ratesOf(bench, bench.viaPipe),
    };
  },
};

function added(share: 'p50' | 'p99', atMost: number): Figure {
  return {
    id: `proxy-added-${share}`,
    about: `${share} at half of the proxy's own full load`,
    unit: 'ms',
    yardstick: 'the bare pipe at the same rate',
    goal: { of: 'difference', atMost },
    prepare: async () => {
      const bench = await prepareProxy();
      const half = (await closedLoad(bench.viaProxy, connections, seconds)).perSecond / 2;
      return {
        close: () => bench.close(),
        run: async () => ({
          value: (await openLoad(bench.viaProxy, half, seconds))[share],
          yardstick: (await openLoad(bench.viaPipe, half, seconds))[share],
        }),
      };
    },
  };
}

export const proxyAddedP50 = added('p50', 0.5);
export const proxyAddedP99 = added('p99', 3);
