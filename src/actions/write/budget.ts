import type { Connections } from '../../connections/index.ts';
import { problem } from '../../kit/problem.ts';
import type { ProviderClient, RecordOutcome } from '../../providers/index.ts';

/** The budget of one connection, as a write sees it. */
export interface WriteBudget {
  /** Milliseconds until something may be sent; 0: now. */
  waitMs(): number;
  /** The client, which sends nothing while the window is closed. Throws provider-rate-limited. */
  guard(client: ProviderClient): ProviderClient;
  /** Closes the window if an outcome says so: one record of an answer may, when the answer as a whole does not. */
  note(outcomes: readonly RecordOutcome[]): void;
}

/** Resolves once closed windows are known to this node. */
export async function budgetOf(
  { budget }: Connections,
  projectId: string,
  connectionId: string,
): Promise<WriteBudget> {
  await budget.ready();
  const waitMs = (): number => budget.waitMs(projectId, connectionId, 'write');
  return {
    waitMs,
    guard: (client) => ({
      send: async (request, maySend) => {
        refuseClosed(waitMs());
        return client.send(request, maySend);
      },
    }),
    note(outcomes) {
      for (const outcome of outcomes) {
        if (outcome.kind === 'applied' || outcome.failure.category !== 'rateLimit') continue;
        const forMs = outcome.failure.retryAfterMs;
        if (forMs !== undefined && waitMs() === 0)
          budget.close(projectId, connectionId, { forMs, lockedOut: false });
      }
    },
  };
}

/** Throws provider-rate-limited unless the wait is 0. */
export function refuseClosed(waitMs: number): void {
  if (waitMs <= 0) return;
  throw problem('provider-rate-limited', {
    detail: 'The provider said that the limit of this connection is reached; nothing was sent.',
    retryAfterSeconds: Math.ceil(waitMs / 1000),
  });
}
