/** `npm run soak`: writes, reads and proxied calls, faults and restarts. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readOptions } from '../../scripts/options.ts';
import type { Database } from '../../src/kit/db/database.ts';
import { reportOf, tableOf } from '../faults/suite/report.ts';
import { runFaults } from '../faults/suite/run.ts';
import { usual, type Settings } from '../faults/suite/settings.ts';
import type { Stage } from '../faults/suite/stage.ts';
import { createBeside } from './beside.ts';
import { growthOf, type Sample } from './growth.ts';

const values = readOptions(
  `npm run soak -- [--minutes N] [--seed N]

Writes, reads and proxied calls, faults and restarts for N minutes (15 unless told). Exits 1 when something
was lost or grew; memory is judged in runs of ten minutes and more.`,
  { minutes: { type: 'string', default: '15' }, seed: { type: 'string' } },
);
const minutes = Number(values.minutes);
const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(values.seed);
if (!(minutes > 0)) throw new Error('--minutes takes a number above 0');
if (!Number.isInteger(seed) || seed < 0) throw new Error('--seed takes a whole number');

/** One node lives through all of it, so that what it gathers shows; the other dies every minute or so. */
const settings: Settings = {
  ...usual,
  seed,
  minutes,
  writes: 0,
  kills: Math.floor(minutes),
  perPoint: 0,
  stops: 0,
  terminations: Math.floor(minutes / 2),
  databaseCrashes: Math.floor(minutes / 5),
  silences: Math.floor(minutes / 5),
  refusals: Math.floor(minutes / 2),
  losses: Math.floor(minutes / 5),
  outages: Math.floor(minutes / 5),
  readers: Math.floor(minutes / 5),
  jumps: Math.floor(minutes / 5),
  faultRate: 0.03,
  callers: 16,
  pauseMs: 50,
  spared: 1,
  paceMs: 15_000,
};
const sampleEverySeconds = 10;

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

const run = promisify(execFile);

async function memoryOf(pid: number | undefined): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid ?? 0)]);
  return Number(stdout.trim()) * 1_024;
}

/** Tables whose rows stand only while something is unfinished; what others hold is kept for its days. */
const queues = 'work wake turn lane ab_head ab_batch ab_turn operation_delta activity_delta read_stale'.split(
  ' ',
);

/** Sizes of what is queued and of what is kept, and the age of the oldest due work. */
async function storage(database: Database): Promise<Pick<Sample, 'queue' | 'history' | 'queueAge'>> {
  const [row] = await database.raw(
    `SELECT sum(size) FILTER (WHERE NOT queued)::float8 AS history, sum(size) FILTER (WHERE queued)::float8 AS queue,
      (SELECT coalesce(max(extract(epoch FROM svc_now() - due_at)), 0)::float8 FROM work WHERE state = 0 AND due_at < svc_now()) AS age
    FROM (SELECT pg_total_relation_size(c.oid) AS size, coalesce(p.relname, c.relname) = ANY($1) AS queued
      FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
      WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace) tables`,
    [queues],
  );
  return {
    queue: Number(row?.['queue']),
    history: Number(row?.['history']),
    queueAge: Number(row?.['age']),
  };
}

function lineOf({ seconds, accepted, memory, queue, history: kept, queueAge }: Sample): string {
  const mebi = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  return [
    `${String(seconds).padStart(5)} s`,
    `${accepted} accepted`,
    `memory ${mebi(memory)}`,
    `queue tables ${mebi(queue)}`,
    `history ${mebi(kept)}`,
    `oldest due ${queueAge.toFixed(1)} s`,
  ].join('  ');
}

async function main(): Promise<number> {
  const samples: Sample[] = [];
  const { beside, tally } = createBeside(seed);
  let startedAt: number | undefined;
  const observe = async ({ database, nodes }: Stage, accepted: number): Promise<void> => {
    startedAt ??= performance.now();
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    if (seconds < (samples.length + 1) * sampleEverySeconds) return;
    const stored = await storage(database).catch(() => undefined);
    if (!stored) return;
    const sample = { seconds, accepted, memory: await memoryOf(nodes[0]?.pid), ...stored };
    samples.push(sample);
    print(`${lineOf(sample)}  ${tally.proxied} proxied  ${tally.messages()} messages`);
  };
  const onOpen = (close: () => Promise<void>): void => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => void close().then(() => process.exit(1)));
  };
  print(`soak, seed ${seed}, ${minutes} minutes`);
  const outcome = await runFaults({ settings, say: () => undefined, observe, beside, onOpen });
  const report = reportOf(outcome, settings);
  const grown = growthOf(samples);
  const besides = tally.problems();
  for (const line of [...tableOf(report, outcome), ...grown]) print(line);
  print(
    `beside the writes: ${tally.proxied} proxied calls, others ${JSON.stringify(tally.failed)}, ${tally.reads} reads, ${tally.messages()} messages`,
  );
  for (const line of besides) print(line);
  print(grown.length === 0 ? 'nothing grew' : 'SOMETHING GREW');
  return grown.length === 0 && besides.length === 0 && report.holds ? 0 : 1;
}

process.exit(await main());
