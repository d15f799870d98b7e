import type { Ground } from '../../kit/ground.ts';
import type { Connections } from '../../connections/index.ts';
import type { Installations } from '../../installations/index.ts';
import type { Operations } from '../../operations/index.ts';
import type { Projects } from '../../projects/index.ts';
import { createAutoBatches, type AutoBatches } from './auto-batch/auto-batches.ts';
import {
  createSynchronousWrites,
  type SynchronousOptions,
  type SynchronousWrites,
} from './send/synchronous.ts';

/** What writes stand on. */
export interface WriteDeps {
  ground: Ground;
  projects: Projects;
  connections: Connections;
  installations: Installations;
  operations: Operations;
  writes: Writes;
}

/** The writes of this node: it sends synchronous ones in a lane of its own, and gathers single ones into batches. */
export interface Writes {
  perform: SynchronousWrites['perform'];
  gather: AutoBatches['accept'];
  /** Waits for what is being accepted and sent, then aborts it; gives this node's lanes back. */
  close(): Promise<void>;
}

export function createWrites(
  ground: Pick<Ground, 'database' | 'log'>,
  operations: Operations,
  options: SynchronousOptions,
): Writes {
  const synchronous = createSynchronousWrites(ground, operations, options);
  const autoBatches = createAutoBatches(ground, operations);
  return {
    perform: synchronous.perform,
    gather: autoBatches.accept,
    async close() {
      await Promise.all([synchronous.close(), autoBatches.close()]);
    },
  };
}
