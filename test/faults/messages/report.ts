import type { Deeds } from '../suite/chaos.ts';
import type { Disruption } from '../suite/settings.ts';

/** What a part found. */
export interface Findings {
  /** How much was done. */
  counts: Record<string, number>;
  /** The violations by kind, each with what shows it. */
  violations: Record<string, readonly string[]>;
  deeds: Deeds;
  /** Work that did not end. */
  left: readonly string[];
}

/** What `npm run test:faults -- --part … --json` prints. */
export interface PartReport extends Deeds {
  part: string;
  seed: number;
  seconds: number;
  counts: Record<string, number>;
  violations: Record<string, number>;
  holds: boolean;
}

const shown = 5;

export function reportOf(
  part: string,
  { counts, violations, deeds, left }: Findings,
  { seed, kills, perPoint }: Disruption,
  startedAt: number,
): PartReport {
  const all = { ...violations, stuck: left };
  const found = Object.fromEntries(Object.entries(all).map(([name, shows]) => [name, shows.length]));
  const isEnough = deeds.kills >= kills && Object.values(deeds.crashPoints).every((hits) => hits >= perPoint);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const holds = isEnough && Object.values(found).every((count) => count === 0);
  return { part, seed, seconds, counts, violations: found, ...deeds, holds };
}

/** The report as text, with the first violations. */
export function linesOf(report: PartReport, { violations, left }: Findings): string[] {
  const listed = (counts: Record<string, number>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  const { part, seed, seconds, counts, kills, crashPoints, holds } = report;
  const { stops, terminations, databaseCrashes, silences, refusals, outages } = report;
  return [
    `${part}, seed ${seed}, ${seconds} s: ${listed(counts)}; ${listed(report.violations)}`,
    `  ${listed({ kills, ...crashPoints, stops, terminations, databaseCrashes, silences, refusals, outages })}`,
    ...Object.entries({ ...violations, stuck: left }).flatMap(([name, shows]) =>
      shows.slice(0, shown).map((one) => `  ${name}: ${one}`),
    ),
    holds ? 'everything holds' : 'SOMETHING DOES NOT HOLD',
  ];
}
