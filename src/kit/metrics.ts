import { Counter, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** The figures that /metrics shows (Prometheus). Labels are few and bounded: never an id of a customer. */
export interface Metrics {
  readonly registry: Registry;
  readonly httpRequests: Histogram<'surface' | 'method' | 'route' | 'status'>;
  readonly providerCalls: Histogram<'provider' | 'outcome'>;
  readonly operations: Counter<'action' | 'provider' | 'status'>;
  readonly attempts: Counter<'kind' | 'provider' | 'category'>;
  readonly dead: Counter<'kind' | 'provider' | 'outcome'>;
  readonly proxyCalls: Counter<'provider' | 'status'>;
  readonly tokenRefreshes: Counter<'provider' | 'outcome'>;
  readonly uncaughtErrors: Counter;
  readonly authenticationFailures: Counter<'surface' | 'answer'>;
}

const latencyBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  return {
    registry,
    httpRequests: new Histogram({
      name: 'svc_http_request_duration_seconds',
      help: 'Time to answer a request.',
      registers,
      buckets: latencyBuckets,
      labelNames: ['surface', 'method', 'route', 'status'],
    }),
    providerCalls: new Histogram({
      name: 'svc_provider_call_duration_seconds',
      help: 'Time of a call to a provider.',
      registers,
      buckets: latencyBuckets,
      labelNames: ['provider', 'outcome'],
    }),
    ...countersOfWork(registers),
    proxyCalls: new Counter({
      name: 'svc_proxy_calls_total',
      help: 'Calls through the proxy.',
      registers,
      labelNames: ['provider', 'status'],
    }),
    tokenRefreshes: new Counter({
      name: 'svc_token_refreshes_total',
      help: 'Refreshes of access tokens.',
      registers,
      labelNames: ['provider', 'outcome'],
    }),
    uncaughtErrors: new Counter({
      name: 'svc_uncaught_errors_total',
      help: 'Errors that nobody caught; each replaced the process.',
      registers,
    }),
    authenticationFailures: new Counter({
      name: 'svc_authentication_failures_total',
      help: 'Requests with wrong credentials; slowed: answered 429.',
      registers,
      labelNames: ['surface', 'answer'],
    }),
  };
}

function countersOfWork(registers: Registry[]): Pick<Metrics, 'operations' | 'attempts' | 'dead'> {
  return {
    operations: new Counter({
      name: 'svc_operations_total',
      help: 'Operations that ended.',
      registers,
      labelNames: ['action', 'provider', 'status'],
    }),
    attempts: new Counter({
      name: 'svc_attempts_total',
      help: 'Attempts that ended, by the category of their first failure; none: all went well.',
      registers,
      labelNames: ['kind', 'provider', 'category'],
    }),
    dead: new Counter({
      name: 'svc_work_dead_total',
      help: 'Operations that ended with records that failed for good, or whose outcome is unknown.',
      registers,
      labelNames: ['kind', 'provider', 'outcome'],
    }),
  };
}
