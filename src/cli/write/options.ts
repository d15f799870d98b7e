import type { ConnectionOptions } from '../connection.ts';

export interface WriteOptions extends ConnectionOptions {
  group: string;
  type: 'create' | 'update' | 'delete';
  mode: 'synchronous' | 'asynchronous';
  data?: string;
  file?: string;
  run?: string;
  idempotencyKey?: string;
  dryRun?: boolean;
  concurrency: number;
}

/** What is written, and where. */
export interface Target {
  integration: string;
  object: string;
  groupRef: string;
  type: WriteOptions['type'];
  mode: WriteOptions['mode'];
}
