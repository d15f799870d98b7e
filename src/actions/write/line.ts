import type { Connections } from '../../connections/index.ts';
import { problem } from '../../kit/problem.ts';
import type { Heard } from '../../lanes/index.ts';
import type { ProviderClient, RecordOutcome } from '../../providers/index.ts';

/** One connection, as writes call by it: within its budget, and with an ear for whether anybody answers. */
export interface Line {
  /** Sends nothing while the window of the connection is closed: it throws provider-rate-limited. */
  client: ProviderClient;
  /** Milliseconds until something may be sent; 0: now. */
  waitMs(): number;
  /** One answer is enough; what was kept back here says nothing. */
  heard(): Heard | undefined;
  /** Closes the window if an outcome says so: one record of an answer may, when the answer as a whole does not. */
  note(outcomes: readonly RecordOutcome[]): void;
}

/** Resolves once closed windows are known to this node. Throws when the connection cannot be used. */
export async function openLine(
  connections: Connections,
  projectId: string,
  connectionId: string,
): Promise<Line> {
  const client = await connections.client(projectId, connectionId);
  const { budget } = connections;
  await budget.ready();
  let heard: Heard | undefined;
  const waitMs = (): number => budget.waitMs(projectId, connectionId, 'write');
  return {
    waitMs,
    heard: () => heard,
    client: {
      async send(request, maySend) {
        refuseClosed(waitMs());
        const result = await client.send(request, maySend);
        if ('answer' in result) heard = 'answer';
        else if (result.fault.kind === 'timeout' || result.fault.kind === 'connect') heard ??= 'silence';
        return result;
      },
    },
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
