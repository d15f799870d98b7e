/** What was measured at one moment of a soak. */
export interface Sample {
  /** Since the load began. */
  seconds: number;
  accepted: number;
  /** Resident memory of the node that lives as long as the run, in bytes. */
  memory: number;
  /** Rows that stand only while something is unfinished, with their indexes, in bytes. */
  queue: number;
  /** What is kept of everything that was accepted, in bytes. */
  history: number;
  /** How long the oldest due work has been waiting, in seconds. */
  queueAge: number;
}

const mebi = 2 ** 20;

/** What may grow, from the second quarter of a run to the last: by less than the factor, or by less than `free` altogether. */
interface Limit {
  name: string;
  of: (sample: Sample) => number;
  factor: number;
  free: number;
  unit: string;
  /** Shorter runs tell nothing of it. */
  fromSeconds?: number;
}

const limits: Limit[] = [
  {
    name: 'memory',
    of: ({ memory }) => memory,
    factor: 1.25,
    free: 48 * mebi,
    unit: 'bytes',
    // V8 lets a heap grow for minutes before it collects all of it. A run of ten minutes has its last sample after nine.
    fromSeconds: 540,
  },
  { name: 'queue tables', of: ({ queue }) => queue, factor: 2, free: 16 * mebi, unit: 'bytes' },
  {
    name: 'history of a request',
    of: ({ history, accepted }) => history / Math.max(1, accepted),
    factor: 1.5,
    free: 1_024,
    unit: 'bytes',
  },
  { name: 'age of the queue', of: ({ queueAge }) => queueAge, factor: 2, free: 30, unit: 's' },
];

/** A sentence for each figure that grew; the first quarter of the run is for warming up. Pure. */
export function growthOf(samples: readonly Sample[]): string[] {
  const quarter = Math.floor(samples.length / 4);
  if (quarter < 2) return [`${samples.length} samples are too few to tell; run for longer`];
  const seconds = samples.at(-1)?.seconds ?? 0;
  return limits.flatMap(({ name, of, factor, free, unit, fromSeconds = 0 }) => {
    if (seconds < fromSeconds) return [];
    const before = median(samples.slice(quarter, 2 * quarter).map(of));
    const after = median(samples.slice(-quarter).map(of));
    const grew = after > before * factor && after - before > free;
    return grew ? [`${name} grew from ${Math.round(before)} to ${Math.round(after)} ${unit}`] : [];
  });
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
