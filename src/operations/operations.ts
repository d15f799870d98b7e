import type { Database } from '../kit/db/database.ts';
import type { Ground } from '../kit/ground.ts';
import { problem } from '../kit/problem.ts';
import { sleep } from '../kit/retry.ts';
import { createAnnouncer, hurry, pause } from '../lanes/index.ts';
import { createAcceptor, type Accepted } from './accept.ts';
import { createBacklogReader, type BacklogReader } from './backlog.ts';
import { endsOf, type Ends } from './ends.ts';
import { createExchangeLog, type ExchangeLog } from './exchanges/exchange-log.ts';
import { findEarlierUse } from './keys.ts';
import type { Reach } from '../events/index.ts';
import { createReader, type Reader } from './read.ts';
import { resolveRecords } from './resolve.ts';
import type { OperationRecord, ResolveRequest } from './schema.ts';
import type { AcceptRow } from './store/accept.ts';
import { nothingNow, type TellNow } from './tell-now.ts';
import { placeOf, type EarlierUse, type Intake, type KeyClaim } from './work.ts';

/** The ledger: takes operations in, keeps them, and tells what became of them. */
export interface Operations extends Reader, BacklogReader {
  /**
   * Resolves once the operation, its records and its work are committed; a worker does the rest. `replayed`: the key of the
   * intake stands for that operation, and nothing was accepted.
   */
  acceptQueued(intake: Intake): Promise<{ operationId: string; replayed?: true }>;
  /**
   * Resolves once the operation, its records and its work are committed as started under the lease by which this node
   * holds the lane of the intake.
   * Undefined when the lane was lost: nothing was accepted.
   */
  acceptMarked(intake: Intake, lease: string, operationId: string): Promise<Accepted>;
  /** What an idempotency key stands for, if it does; throws as `findEarlierUse` does. */
  earlierUse(projectId: string, claim: KeyClaim): Promise<EarlierUse | undefined>;
  /** Records what `by` found out about records of unknown outcome; answers the records that the request concerns. */
  resolve(reach: Reach, operationId: string, by: string, request: ResolveRequest): Promise<OperationRecord[]>;
  /** Called with the lane after each commit of queued work; the worker of the same process wants to know. */
  onQueued(listener: (laneId: string) => void): void;
  /** The lane has new work: tells the workers of all nodes. */
  announce(laneId: string): void;
  /** A paused lane keeps its work and starts nothing. */
  pauseLane(projectId: string, laneId: string): Promise<void>;
  resumeLane(projectId: string, laneId: string): Promise<void>;
  /** What waits in the lane for a later attempt is tried now. */
  hurryLane(projectId: string, laneId: string): Promise<void>;
  /** How this process records what became of the work. */
  ends: Ends;
  /** What tells of ends is sent by this from now on. */
  tellBy(now: TellNow): void;
  /** Keeps what providers are sent and answer. `exchanges` lists it. */
  exchangeLog: ExchangeLog;
  /** Waits for what is being accepted. Nothing may be recorded any more. */
  close(deadlineMs?: number): Promise<void>;
}

export interface OperationsOptions {
  /** How long exchanges with providers are kept; none are without it. */
  exchangeKeepDays?: number;
}

export function createOperations(
  ground: Ground,
  { exchangeKeepDays = 0 }: OperationsOptions = {},
): Operations {
  const { database, log } = ground;
  const acceptor = createAcceptor(database, (rows) => tellBegun(database, rows));
  const announcer = createAnnouncer(database, log);
  let tellNow: TellNow | undefined;
  const ends = endsOf(ground, {
    offer: async (projectIds) => (await tellNow?.offer(projectIds)) ?? nothingNow,
  });
  const exchangeLog = createExchangeLog(ground, exchangeKeepDays);
  const listeners = new Set<(laneId: string) => void>();

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
    acceptMarked: acceptor.accept,
    resolve: async (reach, operationId, by, request) =>
      resolveRecords(database, await reader.get(reach, operationId), by, request),
    ends,
    tellBy(now) {
      tellNow = now;
    },
    exchangeLog,
    announce,
    onQueued: (listener) => void listeners.add(listener),
    async close(deadlineMs = 10_000) {
      const over = new AbortController();
      await Promise.race([acceptor.drain(), sleep(deadlineMs, over.signal)]);
      over.abort();
      await ends.close();
      await exchangeLog.close();
      await announcer.close();
    },
  };
}

function tellBegun(database: Database, rows: readonly AcceptRow[]): void {
  for (const { projectId, operationId: id, request } of rows)
    database.tell(projectId, {
      type: 'operation',
      id,
      status: 'in_progress',
      groupRef: placeOf(request).groupRef,
    });
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
