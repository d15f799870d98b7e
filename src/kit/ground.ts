import type { Dispatcher } from 'undici';
import type { Database } from './db/database.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import type { Vault } from './vault.ts';

/** What every room stands on; built once in src/app.ts and passed in. */
export interface Ground {
  database: Database;
  log: Logger;
  vault: Vault;
  /** Dials every outgoing call. */
  egress: Dispatcher;
  metrics: Metrics;
  limits: Limits;
  /** Where callers reach this service from outside, without a trailing slash, such as `https://svc.example.com`. */
  publicUrl: string;
}

/** Limits of ours (docs/contract.md, Limits). Each room declares its own in its `limits.ts`. */
export interface Limits {
  /** For making one connection to another server. */
  connectMs: number;
}
