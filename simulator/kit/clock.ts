/** Simulated time in ms since the epoch: real time plus a shift, or frozen. */
export type Clock = {
  now: () => number;
  iso: () => string;
  set: (change: ClockChange) => void;
  reset: () => void;
};

/** `freezeAt` null lets a frozen clock run on from where it stood. */
export type ClockChange = { shiftMs?: number; freezeAt?: number | string | null; advanceMs?: number };

/** Makes a clock that shows real time until it is set. */
export function createClock(): Clock {
  let shift = 0;
  let frozen: number | null = null;
  const now = (): number => frozen ?? Date.now() + shift;
  function set(change: ClockChange): void {
    if (change.shiftMs !== undefined) {
      shift = change.shiftMs;
      frozen = null;
    }
    if (change.freezeAt !== undefined) freeze(change.freezeAt);
    if (change.advanceMs === undefined) return;
    if (frozen === null) shift += change.advanceMs;
    else frozen += change.advanceMs;
  }
  function freeze(at: number | string | null): void {
    if (at === null) {
      if (frozen !== null) shift = frozen - Date.now();
      frozen = null;
      return;
    }
    const ms = typeof at === 'number' ? at : Date.parse(at);
    if (Number.isNaN(ms)) throw new Error(`freezeAt is not a time: ${String(at)}`);
    frozen = ms;
  }
  function reset(): void {
    shift = 0;
    frozen = null;
  }
  return { now, iso: () => new Date(now()).toISOString(), set, reset };
}
