import type { Logger } from '../log.ts';
import { sleep } from '../retry.ts';
import { writeBatch, type Change } from './wire.ts';

/** Between two notifications of a node about one project. */
export const everyMs = 250;
/** What waits to be told of one project at the most; beyond it a change is told as more of its type. */
const mostWaiting = 1_000;
/** For the last notifications of a node that stops. */
const closeMs = 1_000;
/** Asks every node to look again: something changed, and could not be told. */
export const everything = '!';

export interface Teller {
  tell(projectId: string, change: Change): void;
  /** Notes that something changed which is not told, and should have been. */
  miss(): void;
  /** Asks every node to look again, if anything was missed. */
  makeUp(): void;
  /** Sends what waits. Resolves when it is sent, or cannot be. */
  close(): Promise<void>;
}

interface Outbox {
  waiting: Map<string, Change>;
  /** Until the next notification may leave. */
  rest: NodeJS.Timeout | undefined;
}

/** Gathers what a node has to tell: the first change leaves at once, what follows within a quarter of a second together. */
export function createTeller(notify: (text: string) => Promise<void>, log: Pick<Logger, 'debug'>): Teller {
  const outboxes = new Map<string, Outbox>();
  const underWay = new Set<Promise<void>>();
  let isMissing = false;

  async function tellNodes(text: string): Promise<void> {
    try {
      await notify(text);
    } catch (error) {
      // Other nodes may have listened all the time.
      isMissing = true;
      log.debug({ err: error }, 'changes were not told');
    }
  }

  function begin(text: string): void {
    const telling = tellNodes(text).finally(() => underWay.delete(telling));
    underWay.add(telling);
  }

  function send(projectId: string, outbox: Outbox): void {
    outbox.rest = undefined;
    if (outbox.waiting.size === 0) return void outboxes.delete(projectId);
    const text = writeBatch(projectId, outbox.waiting.values());
    outbox.waiting = new Map();
    outbox.rest = setTimeout(() => send(projectId, outbox), everyMs);
    outbox.rest.unref();
    begin(text);
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
    miss: () => void (isMissing = true),
    makeUp() {
      if (!isMissing) return;
      isMissing = false;
      begin(everything);
    },
    async close() {
      for (const [projectId, { rest, waiting }] of outboxes) {
        clearTimeout(rest);
        if (waiting.size > 0) begin(writeBatch(projectId, waiting.values()));
      }
      outboxes.clear();
      const over = new AbortController();
      await Promise.race([Promise.all(underWay), sleep(closeMs, over.signal)]);
      over.abort();
    },
  };
}
