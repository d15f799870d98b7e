import type { Logger } from '../log.ts';
import { writeBatch, type Change } from './wire.ts';

/** Between two notifications of a node about one project. */
export const everyMs = 250;
/** What waits to be told of one project at the most; beyond it a change is told as more of its type. */
const mostWaiting = 1_000;

export interface Teller {
  tell(projectId: string, change: Change): void;
  close(): void;
}

interface Outbox {
  waiting: Map<string, Change>;
  /** Until the next notification may leave. */
  rest: NodeJS.Timeout | undefined;
}

/** Gathers what a node has to tell: the first change leaves at once, what follows within a quarter of a second together. */
export function createTeller(notify: (text: string) => Promise<void>, log: Pick<Logger, 'debug'>): Teller {
  const outboxes = new Map<string, Outbox>();

  function send(projectId: string, outbox: Outbox): void {
    outbox.rest = undefined;
    if (outbox.waiting.size === 0) return void outboxes.delete(projectId);
    const text = writeBatch(projectId, outbox.waiting.values());
    outbox.waiting = new Map();
    outbox.rest = setTimeout(() => send(projectId, outbox), everyMs);
    outbox.rest.unref();
    notify(text).catch((error: unknown) => {
      // Whoever listens hears that the connection broke, and looks again.
      log.debug({ err: error }, 'changes were not told');
    });
  }

  return {
    tell(projectId, change) {
      const outbox = outboxes.get(projectId) ?? { waiting: new Map<string, Change>(), rest: undefined };
      outboxes.set(projectId, outbox);
      const key = `${change.type} ${change.id}`;
      const isFull = outbox.waiting.size >= mostWaiting && !outbox.waiting.has(key);
      // One for each group stands for all that do not fit.
      outbox.waiting.set(isFull ? `${change.type} ${change.groupRef ?? ''} more` : key, change);
      // In the next turn: what one commit changes is told together.
      outbox.rest ??= setTimeout(() => send(projectId, outbox), 0);
    },
    close() {
      for (const { rest } of outboxes.values()) clearTimeout(rest);
      outboxes.clear();
    },
  };
}
