import type { Dispatcher } from 'undici';
import { atItsTurn, ChunkCount } from './chunk-pace.ts';

/** Keeps an answer in tiny chunks, or a fast one, from holding up others: after many of them, or many bytes, it is read on in another turn of the event loop. */
export class AnswerPace {
  readonly #count = new ChunkCount();
  #isResting = false;
  /** How many reasons there are not to read on. */
  #holds = 0;

  /** Whether the chunks that came so far are too many and too small. */
  get isExceeded(): boolean {
    return this.#count.isExceeded;
  }

  /** Counts a chunk that came. */
  pass(controller: Dispatcher.DispatchController, bytes: number): void {
    this.#count.add(bytes);
    if (!this.#count.isTurnFull || this.#isResting) return;
    this.#isResting = true;
    const goOn = this.hold(controller);
    atItsTurn(() => {
      this.#isResting = false;
      this.#count.beginTurn();
      goOn();
    });
  }

  /** Reads no more until what it returns is called, once. */
  hold(controller: Dispatcher.DispatchController): () => void {
    this.#holds += 1;
    if (this.#holds === 1) controller.pause();
    return () => {
      this.#holds -= 1;
      if (this.#holds === 0) controller.resume();
    };
  }
}
