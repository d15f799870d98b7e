import type { CrashPoint } from '../../../src/kit/crash-point.ts';
import type { Outcome } from './run.ts';
import type { Settings } from './settings.ts';

/** What `npm run test:faults -- --json` prints. */
export interface Report {
  seed: number;
  accepted: number;
  records: number;
  lost: number;
  duplicates: number;
  stuck: number;
  falseSuccess: number;
  falseFailure: number;
  /** Writes that were refused, and done all the same. */
  falseRefusal: number;
  unknown: number;
  unknownResolvable: number;
  /** The most that may be unknown: answers that were lost where no key exists. */
  lostAnswers: number;
  unexplained: number;
  outOfOrder: number;
  /** All-or-none requests whose records had different outcomes. */
  torn: number;
  /** Changes of a field that was to be written only where it is empty. */
  overwritten: number;
  kills: number;
  crashPoints: Partial<Record<CrashPoint, number>>;
  stops: number;
  terminations: number;
  databaseCrashes: number;
  silences: number;
  refusals: number;
  losses: number;
  outages: number;
  readers: number;
  jumps: number;
  providerCalls: number;
  faults: Record<string, number>;
  replayed: number;
  unanswered: number;
  /** Writes that were refused and not sent again. */
  givenUp: number;
  refused: Record<string, number>;
  seconds: number;
  /** Whether there is no violation. */
  holds: boolean;
}

const mustBeZero = [
  'lost',
  'duplicates',
  'stuck',
  'falseSuccess',
  'falseFailure',
  'falseRefusal',
  'unknownResolvable',
  'unexplained',
  'outOfOrder',
  'torn',
  'overwritten',
] as const;

export function reportOf(
  { verdict, deeds, tally, givenUp, faults, providerCalls, seconds }: Outcome,
  { seed, perPoint, kills }: Settings,
): Report {
  const counts = Object.fromEntries(
    mustBeZero.map((name) => [name, verdict.violations[name].length]),
  ) as Record<(typeof mustBeZero)[number], number>;
  const { accepted, records, unknown, lostAnswers } = verdict;
  const holds =
    mustBeZero.every((name) => counts[name] === 0) &&
    unknown <= lostAnswers &&
    deeds.kills >= kills &&
    Object.values(deeds.crashPoints).every((hits) => hits >= perPoint);
  return {
    seed,
    accepted,
    records,
    ...counts,
    unknown,
    lostAnswers,
    ...deeds,
    providerCalls,
    faults,
    replayed: tally.replayed,
    unanswered: tally.unanswered,
    givenUp,
    refused: tally.refused,
    seconds,
    holds,
  };
}

/** The report as text, with the first violations. */
export function tableOf(report: Report, outcome: Outcome): string[] {
  const line = (name: string, value: unknown, note = ''): string =>
    `  ${name.padEnd(20)}${String(value).padStart(9)}  ${note}`.trimEnd();
  const listed = (counts: Record<string, number>): string =>
    Object.entries(counts)
      .map(([name, count]) => `${name} ${count}`)
      .join(', ');
  const faults = Object.values(report.faults).reduce((total, count) => total + count, 0);
  return [
    `faults, seed ${report.seed}, ${report.seconds} s`,
    line('accepted', report.accepted, `${report.records} records; ${report.replayed} answers replayed`),
    ...mustBeZero.map((name) => line(name, report[name])),
    line('unknown', report.unknown, `of ${report.lostAnswers} answers that were lost where no key exists`),
    line('provider calls', report.providerCalls, `${faults} faults: ${listed(report.faults)}`),
    line('kills', report.kills, listed(report.crashPoints)),
    line('stops', report.stops),
    line('terminations', report.terminations),
    line('database crashes', report.databaseCrashes),
    line('database silent', report.silences),
    line('database refusing', report.refusals),
    line('database lost', report.losses, 'right after it stored something'),
    line('provider silent', report.outages),
    line('long readers', report.readers),
    line('clock ahead', report.jumps, 'by more than a lease'),
    line('asked again', '', listed(report.refused)),
    line('given up', report.givenUp, 'refused and not asked again'),
    ...outcome.left.slice(0, 5).map((what) => line('left', '', what)),
    ...outcome.details.map((detail) => `  ${detail}`),
    report.holds ? 'everything holds' : 'SOMETHING DOES NOT HOLD',
  ];
}
