import type { Ground } from '../kit/ground.ts';
import { defineKind, type Gathers, type Ran, type RegisteredKind } from '../lanes/index.ts';
import { attempt, resolveRescued } from './attempt.ts';
import { createInstallationStatus } from './installation-status.ts';
import { defaultRetryPolicy, type RetryPolicy } from './next-step.ts';
import { countAttempt, tellEnd } from './outcomes.ts';
import { plainer } from './plainer.ts';
import { settle, settleSynchronous, type Settlement } from './settle.ts';
import { load, withPayloads } from './store/load.ts';
import { record } from './store/record.ts';
import { placeOf, type ItemResult, type WorkHandler, type WorkItem } from './work.ts';

type Base = Pick<Ground, 'database' | 'metrics' | 'log'>;

export interface Ends {
  record: typeof record;
  recorded(settled: readonly Settlement[]): void;
  less: typeof plainer;
  about(of: WorkItem | Settlement): Record<string, unknown>;
  /** Tells the installations what they were not told yet. */
  close(): Promise<void>;
}

/** How the ends of attempts are kept in the ledger, and who is told of them. */
export function endsOf({ database, metrics, log }: Base): Ends {
  const installationStatus = createInstallationStatus(database, log);
  return {
    record,
    recorded(settled) {
      for (const one of settled) countAttempt(metrics, one);
      const ended = settled.filter(({ done }) => done);
      for (const one of ended) tellEnd(log, one);
      installationStatus.note(ended);
    },
    less: plainer,
    about: (of) => ({
      projectId: of.projectId,
      ...('place' in of ? of.place : placeOf(of.request)),
      operationId: of.operationId,
    }),
    close: () => installationStatus.close(),
  };
}

interface LedgerKindOptions {
  policy?: RetryPolicy;
  /** What becomes such work. */
  gathers?: Gathers | undefined;
}

/** The work of operations of one action, done by a handler. */
export function ledgerKind(
  name: string,
  ends: Ends,
  handler: WorkHandler,
  { policy = defaultRetryPolicy, gathers }: LedgerKindOptions = {},
): RegisteredKind {
  /** In the lane of a node stand synchronous writes, which have no second attempt. */
  const ran = (item: WorkItem, result: ItemResult): Ran<Settlement> => ({
    end: (item.isOfNode ? settleSynchronous : settle)(item, result, policy),
    heard: result.heard,
    ...(result.kind === 'throttled' ? { laneWaitsMs: result.inMs } : {}),
  });
  return defineKind<WorkItem, Settlement>({
    ...ends,
    name,
    load,
    large: { bytesOf: ({ unreadBytes }) => unreadBytes, read: withPayloads },
    run: async (item, context) => ran(item, await attempt(item, handler, context)),
    rescued: async (item, context) => ran(item, await resolveRescued(item, handler, context)),
    unsent: (item, inMs) => settle(item, { kind: 'postponed', inMs }, policy),
    ...(gathers ? { gathers } : {}),
  });
}
