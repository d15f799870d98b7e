import type { Ground } from '../kit/ground.ts';
import { sleep } from '../kit/retry.ts';
import { createAcceptor } from './accept.ts';
import { createAnnouncer } from './hints.ts';
import { createInstallationStatus } from './installation-status.ts';
import { createNodeLanes } from './node-lane.ts';
import { performMarked, type Performed, type Send } from './perform.ts';
import { createReader, type Reader } from './read.ts';
import { createRecorder } from './recorder.ts';
import { pause } from './store/lanes.ts';
import type { Intake } from './work.ts';

export interface OperationsOptions {
  /** How long this node's own lane of synchronous writes holds without renewal. */
  leaseMs?: number;
}

/** The ledger: takes operations in, keeps them, and tells what became of them. */
export interface Operations extends Reader {
  /** Resolves once the operation, its records and its work are committed; a worker does the rest. */
  acceptQueued(intake: Intake): Promise<{ operationId: string }>;
  /**
   * A synchronous write: commits it as started, calls `send` once, and records what it answers. Rejects, with nothing sent,
   * when it could not be committed; never rejects for what `send` does.
   */
  acceptMarked(intake: Omit<Intake, 'laneId'>, send: Send): Promise<Performed>;
  /** Called with the lane after each commit of queued work; the worker of the same process wants to know. */
  onQueued(listener: (laneId: string) => void): void;
  /** A paused lane keeps its work and starts nothing. */
  pauseLane(projectId: string, laneId: string): Promise<void>;
  resumeLane(projectId: string, laneId: string): Promise<void>;
  /** Waits for what is being accepted and sent, then aborts it; gives this node's lanes back. */
  close(deadlineMs?: number): Promise<void>;
}

const defaultLeaseMs = 60_000;
/** For recording what was aborted at the deadline of a close. */
const graceMs = 1_500;

export function createOperations(ground: Ground, options: OperationsOptions = {}): Operations {
  const { database, log } = ground;
  const leaseMs = options.leaseMs ?? defaultLeaseMs;
  const acceptor = createAcceptor(database);
  const announcer = createAnnouncer(database.url, log);
  const nodeLanes = createNodeLanes({ database, log, leaseMs });
  const installationStatus = createInstallationStatus(database, log);
  const recorder = createRecorder({
    database,
    metrics: ground.metrics,
    onEnded: (ended) => installationStatus.note(ended),
  });
  const closing = new AbortController();
  const listeners = new Set<(laneId: string) => void>();
  const performing = new Set<Promise<unknown>>();

  function announce(laneId: string): void {
    for (const listener of listeners) listener(laneId);
    announcer.announce();
  }

  return {
    ...createReader(database),
    async acceptQueued(intake) {
      const accepted = await acceptor.accept(intake, null);
      if (!accepted) throw new Error('queued work is accepted without a condition');
      announce(intake.laneId);
      return { operationId: accepted.operationId };
    },
    acceptMarked(intake, send) {
      const deps = { acceptor, nodeLanes, recorder, leaseMs, closing: closing.signal };
      const performed = performMarked(deps, { ...intake, laneId: '' }, send);
      const settled = performed.catch(() => undefined).finally(() => performing.delete(settled));
      performing.add(settled);
      return performed;
    },
    onQueued: (listener) => void listeners.add(listener),
    async pauseLane(projectId, laneId) {
      await pause(database, projectId, laneId, true);
    },
    async resumeLane(projectId, laneId) {
      await pause(database, projectId, laneId, false);
      announce(laneId);
    },
    async close(deadlineMs = 10_000) {
      const timer = setTimeout(() => closing.abort(), deadlineMs);
      await Promise.race([
        Promise.all([...performing, acceptor.drain()]).then(() => recorder.drain()),
        sleep(deadlineMs + graceMs),
      ]);
      clearTimeout(timer);
      await nodeLanes
        .close()
        .catch((error: unknown) => log.warn({ err: error }, 'this node’s lanes were not given back'));
      await installationStatus.close();
      await announcer.close();
    },
  };
}
