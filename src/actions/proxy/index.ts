import './problems.ts';
export { proxyLimits } from './limits.ts';
export { proxyLogPartitions } from './log-writer.ts';
export { proxyMetrics } from './metrics.ts';
export { proxyLogRoutes } from './routes.ts';
export { createProxyServer } from './server.ts';
export { eraseProxyLog } from './erase-store.ts';
export { findProxyCalls } from './find-store.ts';
