/** Lets one loop sleep until somebody rings; a ring while it is awake is not lost. */
export interface Doorbell {
  ring(): void;
  /** Resolves at the next ring, at once if there was one since the last wait, or after the time. */
  wait(timeoutMs: number): Promise<void>;
  /** Whether it was rung since the last wait, or the last {@link Doorbell.clear}. */
  rung(): boolean;
  clear(): void;
}

export function createDoorbell(): Doorbell {
  let isRung = false;
  let answer: (() => void) | undefined;
  return {
    ring() {
      isRung = true;
      answer?.();
    },
    rung: () => isRung,
    clear() {
      isRung = false;
    },
    async wait(timeoutMs) {
      if (!isRung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          answer = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      answer = undefined;
      isRung = false;
    },
  };
}
