import { setImmediate as nextTurn } from 'node:timers/promises';

/** Nobody notices that others had to wait for so long. */
const workMs = 10;

/** Work in many small steps that gives way to others now and then. */
export class Turns {
  #begun = performance.now();

  /** Between two steps: what waits for the event loop comes first, if this work held it for some milliseconds. */
  async pass(): Promise<void> {
    if (performance.now() - this.#begun < workMs) return;
    await nextTurn();
    this.#begun = performance.now();
  }
}
