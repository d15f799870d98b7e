import { Counter, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** The figures that /metrics shows (Prometheus). Labels are few and bounded: never an id. */
export interface Metrics {
  readonly registry: Registry;
  readonly httpRequests: Histogram<'surface' | 'method' | 'route' | 'status'>;
  readonly uncaughtErrors: Counter;
}

/** A figure that a room declares; made once in each registry. */
export interface Declared<Figure> {
  in(metrics: Pick<Metrics, 'registry'>): Figure;
}

const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function declareCounter<Label extends string>(
  name: string,
  help: string,
  labelNames: Label[],
): Declared<Counter<Label>> {
  return declare((registers) => new Counter({ name, help, registers, labelNames }));
}

/** Of seconds. */
export function declareLatency<Label extends string>(
  name: string,
  help: string,
  labelNames: Label[],
): Declared<Histogram<Label>> {
  return declare(
    (registers) => new Histogram({ name, help, registers, labelNames, buckets: latencyBuckets }),
  );
}

function declare<Figure>(make: (registers: Registry[]) => Figure): Declared<Figure> {
  const made = new WeakMap<Registry, { figure: Figure }>();
  return {
    in({ registry }) {
      const known = made.get(registry) ?? { figure: make([registry]) };
      made.set(registry, known);
      return known.figure;
    },
  };
}

const httpRequests = declareLatency('svc_http_request_duration_seconds', 'Time to answer a request.', [
  'surface',
  'method',
  'route',
  'status',
]);
const uncaughtErrors = declareCounter(
  'svc_uncaught_errors_total',
  'Errors that nobody caught; each replaced the process.',
  [],
);

/** With the figures of the rooms, so that they are shown before there is anything to count. */
export function createMetrics(ofRooms: readonly Declared<unknown>[] = []): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const one of ofRooms) one.in({ registry });
  return {
    registry,
    httpRequests: httpRequests.in({ registry }),
    uncaughtErrors: uncaughtErrors.in({ registry }),
  };
}
