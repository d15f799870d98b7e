import { scaled, type Figure } from '../figure.ts';
import { closedLoad, type LoadTarget } from '../load.ts';
import { processorMs } from '../process.ts';
import { startProvider } from '../provider.ts';
import { compareWrites } from '../queued-writes.ts';
import { startServer, startStage, type Stage } from '../stage.ts';

const groups = 20;
const writes = scaled(10_000);
const callers = 16;
const seconds = 3;
/** Spans leave so long after their end at the most. */
const untilSentMs = 1_000;
const goal = { of: 'ratio', atMost: 1.15 } as const;

/** A collector takes anything, and answers little. */
const startCollector = () => startServer('upstream.ts', '2');

const toCollector = ({ port }: { port: number }): Record<string, string> => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
  OTEL_BSP_SCHEDULE_DELAY: '500',
  // No span is dropped, which would be cheaper than sending it.
  OTEL_BSP_MAX_QUEUE_SIZE: '1000000',
});

export const tracedWrite: Figure = {
  id: 'traced-write',
  about: `processor time of service and database for an asynchronous write that is traced, ${writes} of them`,
  unit: 'µs',
  yardstick: 'the same without a collector',
  goal,
  prepare: async () => {
    const provider = await startProvider(groups);
    const collector = await startCollector();
    const envs = [toCollector(collector), {}] as const;
    const two = await compareWrites(provider, envs, { writes, settleMs: untilSentMs });
    return {
      run: () => two.run(),
      close: async () => {
        await two.close();
        await collector.close();
        await provider.close();
      },
    };
  },
};

export const tracedProxy: Figure = {
  id: 'traced-proxy',
  about: 'processor time of a proxied call that is traced, 2 KB bodies',
  unit: 'µs',
  yardstick: 'the same without a collector',
  goal,
  prepare: async () => {
    const upstream = await startServer('upstream.ts', '2000');
    const collector = await startCollector();
    const origin = `http://127.0.0.1:${upstream.port}`;
    const traced = await startStage(origin, { env: toCollector(collector) });
    const plain = await startStage(origin);
    const cost = async (stage: Stage): Promise<number> => {
      const before = processorMs(stage.pid);
      const startedAt = performance.now();
      const { perSecond } = await closedLoad(targetOf(stage), callers, seconds);
      const calls = (perSecond * (performance.now() - startedAt)) / 1000;
      await new Promise((resolve) => setTimeout(resolve, untilSentMs));
      return ((processorMs(stage.pid) - before) * 1000) / calls;
    };
    return {
      run: async () => ({ value: await cost(traced), yardstick: await cost(plain) }),
      close: async () => {
        await traced.close();
        await plain.close();
        await Promise.all([upstream.close(), collector.close()]);
      },
    };
  },
};

function targetOf({ proxy, apiKey, projectId, installationId }: Stage): LoadTarget {
  return {
    origin: proxy,
    path: '/crm/v3/objects/contacts?limit=10',
    method: 'GET',
    headers: {
      'x-api-key': apiKey,
      'x-svc-proxy-version': '1',
      'x-svc-project-id': projectId,
      'x-svc-installation-id': installationId,
    },
  };
}
