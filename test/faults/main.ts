/** `npm run test:faults`: nodes that die, freeze and lose their database, by providers that fail. */
import { readOptions } from '../../scripts/options.ts';
import { runDeliveries } from './messages/deliveries.ts';
import { runReads } from './messages/reads.ts';
import { linesOf, reportOf as reportOfPart, type Findings } from './messages/report.ts';
import { deliveries, reads, type Size } from './messages/settings.ts';
import type { RunOptions } from './messages/world.ts';
import { controlSources } from './suite/control-sources.ts';
import { reportOf, tableOf, type Report } from './suite/report.ts';
import { runFaults } from './suite/run.ts';
import { controls, long, usual, type Control } from './suite/settings.ts';

const usage = `npm run test:faults -- [--part writes|reads|deliveries] [--long|--small] [--json] [--seed N]
                        [--control marker|fence|refusal|intact]

Exits 1 unless everything holds. All three parts unless told; some minutes each, and ten times that with --long. --small is
for reads and deliveries, --control for writes.`;
const values = readOptions(usage, {
  part: { type: 'string' },
  long: { type: 'boolean' },
  small: { type: 'boolean' },
  json: { type: 'boolean' },
  seed: { type: 'string' },
  control: { type: 'string' },
  writes: { type: 'string' },
  sources: { type: 'string' },
});
const parts = ['writes', 'reads', 'deliveries'] as const;
type Part = (typeof parts)[number];

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

function seedOf(text: string | undefined): number {
  const seed = text === undefined ? Math.floor(Math.random() * 1e9) : Number(text);
  if (!Number.isInteger(seed) || seed < 0) throw new Error('--seed takes a whole number');
  return seed;
}

/** What a control must show: `intact` no violation, the others the violation that they cause. */
function verdictOn(
  control: Control,
  { duplicates, falseRefusal }: Report,
): { line: string; isRight: boolean } {
  const seen = `control "${control}": ${duplicates} duplicates, ${falseRefusal} done though refused`;
  const found = control === 'refusal' ? falseRefusal : duplicates;
  const isRight = control === 'intact' ? found === 0 : found > 0;
  if (isRight) return { line: `${seen}, as it must be`, isRight };
  return {
    line: control === 'intact' ? `${seen}, WHICH MUST NOT BE` : `${seen}: THE SUITE PROVES NOTHING`,
    isRight,
  };
}

/** Ends what runs when the process is told to. */
function onOpen(close: () => Promise<void>): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => void close().then(() => process.exit(1)));
}

/** Whether everything holds. */
async function runWrites(seed: number): Promise<boolean> {
  const control = values.control as Control | undefined;
  if (control !== undefined && !Object.hasOwn(controls, control))
    throw new Error(`--control takes ${Object.keys(controls).join(' or ')}`);
  const size = control ? controls[control] : values.long ? long : usual;
  const settings = { ...size, seed };
  if (values.writes !== undefined) settings.writes = Number(values.writes);
  const copy = control ? await controlSources(control) : undefined;
  const sources = values.sources ?? copy?.folder;
  try {
    const outcome = await runFaults({
      settings,
      ...(sources === undefined ? {} : { sources }),
      say,
      onOpen: (close) => onOpen(() => Promise.all([close(), copy?.remove()]).then(() => undefined)),
    });
    const report = reportOf(outcome, settings);
    if (values.json) print(JSON.stringify(report));
    for (const line of tableOf(report, outcome)) (values.json ? say : print)(line);
    if (!control) return report.holds;
    const { line, isRight } = verdictOn(control, report);
    (values.json ? say : print)(line);
    return isRight;
  } finally {
    await copy?.remove();
  }
}

async function runMessages(part: 'reads' | 'deliveries', seed: number): Promise<boolean> {
  const size: Size = values.long ? 'long' : values.small ? 'small' : 'usual';
  const startedAt = performance.now();
  const options: RunOptions = {
    say,
    onOpen,
    ...(values.sources === undefined ? {} : { sources: values.sources }),
  };
  const settings = { reads: { ...reads[size], seed }, deliveries: { ...deliveries[size], seed } };
  const findings: Findings =
    part === 'reads'
      ? await runReads(settings.reads, options)
      : await runDeliveries(settings.deliveries, options);
  const report = reportOfPart(part, findings, settings[part], startedAt);
  if (values.json) print(JSON.stringify(report));
  for (const line of linesOf(report, findings)) (values.json ? say : print)(line);
  return report.holds;
}

function wantedParts(): readonly Part[] {
  if (values.control !== undefined) return ['writes'];
  if (values.part === undefined) return parts;
  const part = parts.find((one) => one === values.part);
  if (!part) throw new Error(`--part takes ${parts.join(', ')}`);
  return [part];
}

async function main(): Promise<number> {
  const seed = seedOf(values.seed);
  say(`seed ${seed}`);
  let holds = true;
  for (const part of wantedParts())
    if (!(await (part === 'writes' ? runWrites(seed) : runMessages(part, seed)))) holds = false;
  return holds ? 0 : 1;
}

process.exit(await main());
