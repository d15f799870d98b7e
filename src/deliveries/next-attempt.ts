const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Waits after the first failure, the second, and so on; after the last of them an attempt is the last one. */
const waits = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
];
/** So that what failed together does not come back together. */
const spread = 0.2;

/** How long after a failed attempt, counted from 1, the next one starts; undefined: it was the last. */
export function waitAfter(attempt: number, random: () => number = Math.random): number | undefined {
  const wait = waits[attempt - 1];
  return wait === undefined ? undefined : Math.round(wait * (1 + spread * (2 * random() - 1)));
}

/** Nothing succeeded at a destination for so long: it is disabled at its next failure. */
const disableAfterMs = 5 * 24 * hour;

export function isFailingTooLong(failingForMs: number): boolean {
  return failingForMs >= disableAfterMs;
}
