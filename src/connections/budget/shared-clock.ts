/** The database's clock as this node knows it, without asking: nodes compare times of one clock (docs/invariants.md, 23). */
export interface SharedClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** The database said `time` somewhere between the two monotonic moments. */
  set(time: number, sentAt: number, answeredAt: number): void;
}

/** Begins with this node's own clock. */
export function createSharedClock(): SharedClock {
  let offset = Date.now() - performance.now();
  return {
    now: () => offset + performance.now(),
    set(time, sentAt, answeredAt) {
      const [least, most] = [time - answeredAt, time - sentAt];
      // A slow answer says little: what may still be right stays.
      if (offset < least || offset > most) offset = (least + most) / 2;
    },
  };
}
