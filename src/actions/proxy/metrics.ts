import { declareCounter } from '../../kit/metrics.ts';

export const proxyCalls = declareCounter('svc_proxy_calls_total', 'Calls through the proxy.', [
  'provider',
  'status',
]);

/** What this room counts. */
export const proxyMetrics = [proxyCalls];
