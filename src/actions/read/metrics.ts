import { declareCounter, type Metrics } from '../../kit/metrics.ts';
import type { RunEnd } from './store/ends.ts';

const runs = declareCounter('svc_read_runs_total', 'Runs of reads that ended.', ['type', 'status']);

/** What this room counts. */
export const readMetrics = [runs];

export function countRun(metrics: Metrics, { done, type, status }: RunEnd): void {
  if (done) runs.in(metrics).inc({ type, status });
}
