import { DatabaseError, type ClientConfig } from 'pg';
import { Connection } from './connection.ts';
import { isUnanswered } from './faults.ts';

interface Surroundings {
  /** Asks on a connection of its own, for two seconds at the most. Answers the error if nothing was answered. */
  ask: () => Promise<unknown>;
  onSilent: (error: unknown) => void;
  onAnswer: () => void;
}

/** The only sign of a server that is gone without closing the connection. */
const answerTimeoutMs = 10_000;
/** After one unanswered statement the next ones wait less, until one is answered. */
const silentTimeoutMs = 2_000;
/** Of the question whether it answers at all. */
const probeTimeoutMs = 2_000;
const lookEveryMs = 1_000;
/** A process that has no time to read the answer asks in vain, too, but seldom twice. */
const fewestUnheard = 2;
/** A statement may take long; what it keeps waiting is not asked for more often. */
const calmMs = 3_000;

/**
 * Follows whether a database that is asked answers at all. When nothing was answered for a while it is asked on a connection of its own,
 * and once more; unless that is answered in time, nobody waits any longer, and statements are refused before they are sent, until it is.
 */
export class Silence {
  readonly #around: Surroundings;
  /** Ends the wait of each statement that is under way. */
  readonly #waits = new Set<(error: unknown) => void>();
  #answeredAt = 0;
  #limitMs = answerTimeoutMs;
  #refusal: unknown;
  /** How often it was asked in vain, one after the other. */
  #unheard = 0;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** How long to wait for the answer to a statement that is sent now, in milliseconds. */
  get limitMs(): number {
    return this.#limitMs;
  }

  /** Why nothing is sent now; undefined while it is. */
  get refusal(): unknown {
    return this.#refusal;
  }

  /** Sends a statement and waits for its answer, as long as anything is answered. */
  async watch<Answer>(send: () => Promise<Answer>): Promise<Answer> {
    try {
      const answer = await this.unlessSilent(send);
      this.#answered();
      return answer;
    } catch (error) {
      // One lost connection says nothing about the others.
      if (error instanceof DatabaseError) this.#answered();
      else if (isUnanswered(error)) this.#limitMs = silentTimeoutMs;
      throw error;
    }
  }

  /** Waits for something else, such as a connection, as long as anything is answered. */
  async unlessSilent<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waits.size === 0) this.#answeredAt = performance.now();
    const { promise: gone, reject: giveUp } = Promise.withResolvers<never>();
    this.#waits.add(giveUp);
    if (!this.#timer) this.#lookAfter(lookEveryMs);
    try {
      return await Promise.race([work(), gone]);
    } finally {
      this.#waits.delete(giveUp);
    }
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #answered(): void {
    this.#limitMs = answerTimeoutMs;
    this.#answeredAt = performance.now();
  }

  #lookAfter(ms: number): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#look(), ms);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    const isDoubtful = this.#unheard > 0;
    if (!isDoubtful && this.#waits.size === 0) {
      this.#timer = undefined;
      return;
    }
    if (!isDoubtful && performance.now() - this.#answeredAt < lookEveryMs)
      return this.#lookAfter(lookEveryMs);
    this.#heard(await this.#around.ask());
  }

  #heard(error: unknown): void {
    if (this.#isClosed) return;
    this.#unheard = error === undefined ? 0 : this.#unheard + 1;
    const wasSilent = this.#refusal !== undefined;
    if (error === undefined) {
      this.#refusal = undefined;
      if (wasSilent) this.#around.onAnswer();
      return this.#lookAfter(wasSilent ? lookEveryMs : calmMs);
    }
    if (this.#unheard >= fewestUnheard) {
      this.#refusal = error;
      if (!wasSilent) this.#around.onSilent(error);
      // An error of its own: what says that nobody could connect says nothing of what was sent before.
      const unheard = new Error('timeout expired: nothing is answered', { cause: error });
      for (const giveUp of this.#waits) giveUp(unheard);
    }
    this.#lookAfter(lookEveryMs / 4);
  }
}

/** Asks on a connection of its own. Resolves with the error when nothing was answered in time; a refusal is an answer. */
export async function askAlone(settings: ClientConfig): Promise<unknown> {
  const client = new Connection({
    ...settings,
    connectionTimeoutMillis: probeTimeoutMs,
    query_timeout: probeTimeoutMs,
  });
  try {
    await client.connect();
    await client.query('SELECT 1');
    return undefined;
  } catch (error) {
    return isUnanswered(error) ? error : undefined;
  } finally {
    client.end().catch(() => undefined);
  }
}
