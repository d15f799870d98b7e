/** One pair of measurements, made one right after the other. */
export interface Pair {
  value: number;
  yardstick: number;
  /** What of several it was that was measured. */
  note?: string;
}

/** A figure that we publish: a ratio against a yardstick of the same run. */
export interface Figure {
  id: string;
  about: string;
  unit: string;
  yardstick: string;
  /** The ratio, or with `of: 'difference'` value minus yardstick, that is to be reached. */
  goal: { of: 'ratio' | 'difference'; atLeast?: number; atMost?: number };
  /** Too long to be repeated: one pair, without one that is not counted. */
  once?: true;
  /** Why it cannot be made here. */
  skipped?: string;
  /** Prepares, and gives what makes one pair. Called for each run; `close` at the end. */
  prepare(): Promise<{ run(): Promise<Pair>; close(): Promise<void> }>;
}

/** A count of a figure; `BENCH_SCALE=0.1` makes the long ones short while they are worked at. */
export function scaled(count: number): number {
  return Math.round(count * Number(process.env['BENCH_SCALE'] ?? 1));
}

export interface Measured {
  id: string;
  value: number;
  unit: string;
  yardstick: number;
  ratio: number;
  goal: string;
  holds: boolean;
  runs: number;
  notes: string[];
}

/** Runs the pairs in turn after one that is not counted, and takes the median of each column. */
export async function measure(figure: Figure, wanted: number): Promise<Measured> {
  const runs = figure.once ? 1 : wanted;
  const prepared = await figure.prepare();
  const pairs: Pair[] = [];
  try {
    if (!figure.once) await prepared.run();
    for (let i = 0; i < runs; i += 1) pairs.push(await prepared.run());
  } finally {
    await prepared.close();
  }
  const compared = pairs.map(({ value, yardstick }) =>
    figure.goal.of === 'ratio' ? value / yardstick : value - yardstick,
  );
  const ratio = median(compared);
  const { atLeast, atMost } = figure.goal;
  return {
    id: figure.id,
    value: median(pairs.map(({ value }) => value)),
    unit: figure.unit,
    yardstick: median(pairs.map(({ yardstick }) => yardstick)),
    ratio,
    goal: atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`,
    holds: atLeast === undefined ? ratio <= (atMost ?? Infinity) : ratio >= atLeast,
    runs,
    notes: [...new Set(pairs.flatMap(({ note }) => note ?? []))],
  };
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}
