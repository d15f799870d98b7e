import { declareCounter, declareLatency, type Metrics } from '../kit/metrics.ts';
import type { DeliveryEnd } from './settle.ts';

const attempts = declareCounter('svc_deliveries_total', 'Attempts of deliveries, by what became of them.', [
  'status',
]);
const latency = declareLatency('svc_delivery_duration_seconds', 'Time of an attempt of a delivery.', [
  'status',
]);

/** What this room counts. */
export const deliveryMetrics = [attempts, latency];

/** `pending`: it failed, and is tried again. */
export function countDeliveries(metrics: Metrics, ends: readonly DeliveryEnd[]): void {
  for (const { outcome } of ends) {
    if (!outcome) continue;
    const { status, entry } = outcome;
    attempts.in(metrics).inc({ status });
    if (entry) latency.in(metrics).observe({ status }, entry.latencyMs / 1000);
  }
}
