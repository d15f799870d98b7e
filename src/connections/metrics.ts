import { providerCalls } from './client.ts';
import { tokenRefreshes } from './refresh/index.ts';

/** What this room counts. */
export const connectionMetrics = [providerCalls, tokenRefreshes];
