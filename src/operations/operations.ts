import type { Database } from '../kit/db/database.ts';
import type { Ground } from '../kit/ground.ts';
import type { Logger } from '../kit/log.ts';
import { problem } from '../kit/problem.ts';
import { sleep } from '../kit/retry.ts';
import {
  createAnnouncer,
  createNodeLanes,
  createRecorder,
  hurry,
  pause,
  type NodeLanes,
} from '../lanes/index.ts';
import { createAcceptor } from './accept.ts';
import { createBacklogReader, type BacklogReader } from './backlog.ts';
import { endStray } from './stray.ts';
import { endsOf, type Ends } from './ledger-kind.ts';
import type { Settlement } from './settle.ts';
import { findEarlierUse } from './keys.ts';
import { performMarked, type AnswerOf, type Performed, type Send } from './perform.ts';
import { createReader, type Reader, type Viewer } from './read.ts';
import { resolveRecords } from './resolve.ts';
import type { OperationRecord, ResolveRequest } from './schema.ts';
import type { EarlierUse, Intake, KeyClaim } from './work.ts';

export interface OperationsOptions {
  /** How long this node's own lane of synchronous writes holds without renewal. */
  leaseMs?: number;
  /** How long a synchronous write waits for those of its record that were accepted before it. */
  waitForTurnMs?: number;
}

/** The ledger: takes operations in, keeps them, and tells what became of them. */
export interface Operations extends Reader, BacklogReader {
  /**
   * Resolves once the operation, its records and its work are committed; a worker does the rest. `replayed`: the key of the
   * intake stands for that operation, and nothing was accepted.
   */
  acceptQueued(intake: Intake): Promise<{ operationId: string; replayed?: true }>;
  /**
   * A synchronous write: commits it as started, calls `send` once, and records what it answers. It waits a while for those of
   * its record that were accepted before. Rejects, with nothing sent, when it could not be committed or has no turn; never rejects for what `send` does. `answerOf` is asked once, if the intake has a key.
   */
  acceptMarked(intake: Omit<Intake, 'laneId'>, send: Send, answerOf?: AnswerOf): Promise<Performed>;
  /** What an idempotency key stands for, if it does; throws `idempotency-key-reused` for another request. */
  earlierUse(projectId: string, claim: KeyClaim): Promise<EarlierUse | undefined>;
  /** Records what `by` found out about records of unknown outcome; answers the records that the request concerns. */
  resolve(
    viewer: Viewer,
    operationId: string,
    by: string,
    request: ResolveRequest,
  ): Promise<OperationRecord[]>;
  /** Called with the lane after each commit of queued work; the worker of the same process wants to know. */
  onQueued(listener: (laneId: string) => void): void;
  /** The lane has new work: tells the workers of all nodes. */
  announce(laneId: string): void;
  /** A paused lane keeps its work and starts nothing. */
  pauseLane(projectId: string, laneId: string): Promise<void>;
  resumeLane(projectId: string, laneId: string): Promise<void>;
  /** What waits in the lane for a later attempt is tried now. */
  hurryLane(projectId: string, laneId: string): Promise<void>;
  /** How the workers of this process record what became of the work. */
  ends: Ends;
  /** Waits for what is being accepted and sent, then aborts it; gives this node's lanes back. */
  close(deadlineMs?: number): Promise<void>;
}

const defaultLeaseMs = 60_000;
const defaultWaitForTurnMs = 10_000;
/** For recording what was aborted at the deadline of a close. */
const graceMs = 1_500;

export function createOperations(ground: Ground, options: OperationsOptions = {}): Operations {
  const { database, log } = ground;
  const { leaseMs = defaultLeaseMs, waitForTurnMs = defaultWaitForTurnMs } = options;
  const acceptor = createAcceptor(database);
  const announcer = createAnnouncer(database.directUrl, log);
  const lookAfter = endStray.bind(undefined, database, log);
  const nodeLanes = createNodeLanes({ database, log, leaseMs, lookAfter });
  const ends = endsOf(ground);
  const recorder = createRecorder<Settlement>(ground, ends);
  const closing = new AbortController();
  const deps = { database, acceptor, nodeLanes, recorder, leaseMs, waitForTurnMs, closing: closing.signal };
  const listeners = new Set<(laneId: string) => void>();
  const performing = new Set<Promise<unknown>>();

  function announce(laneId: string): void {
    for (const listener of listeners) listener(laneId);
    announcer.announce();
  }

  const reader = createReader(database);
  return {
    ...reader,
    ...createBacklogReader(database),
    ...laneSwitches(database, announce),
    async acceptQueued(intake) {
      const accepted = await acceptor.accept(intake, null);
      // Only a key can keep it out, and this one was given free between two looks.
      if (!accepted) throw problem('conflict', { retryAfterSeconds: 1 });
      if (accepted.earlier) return { operationId: accepted.operationId, replayed: true };
      announce(intake.laneId);
      return { operationId: accepted.operationId };
    },
    earlierUse: (projectId, claim) => findEarlierUse(database, projectId, claim),
    acceptMarked(intake, send, answerOf) {
      const performed = performMarked(deps, { ...intake, laneId: '' }, send, answerOf);
      const settled = performed.catch(() => undefined).finally(() => performing.delete(settled));
      performing.add(settled);
      return performed;
    },
    resolve: async (viewer, operationId, by, request) =>
      resolveRecords(database, await reader.get(viewer, operationId), by, request),
    ends,
    announce,
    onQueued: (listener) => void listeners.add(listener),
    async close(deadlineMs = 10_000) {
      const timer = setTimeout(() => closing.abort(), deadlineMs);
      await Promise.race([
        Promise.all([...performing, acceptor.drain()]).then(() => recorder.drain()),
        sleep(deadlineMs + graceMs),
      ]);
      clearTimeout(timer);
      await giveBackLanes(nodeLanes, log);
      await ends.close();
      await announcer.close();
    },
  };
}

function laneSwitches(
  database: Database,
  announce: (laneId: string) => void,
): Pick<Operations, 'pauseLane' | 'resumeLane' | 'hurryLane'> {
  return {
    async pauseLane(projectId, laneId) {
      await pause(database, projectId, laneId, true);
    },
    async resumeLane(projectId, laneId) {
      await pause(database, projectId, laneId, false);
      announce(laneId);
    },
    async hurryLane(projectId, laneId) {
      await hurry(database, projectId, laneId);
      announce(laneId);
    },
  };
}

async function giveBackLanes(nodeLanes: NodeLanes, log: Logger): Promise<void> {
  await nodeLanes
    .close()
    .catch((error: unknown) => log.warn({ err: error }, 'this node’s lanes were not given back'));
}
