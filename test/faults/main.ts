/** `npm run test:faults -- [--long] [--json] [--seed N] [--control marker|fence|intact]`: exits 1 unless everything holds. */
import { parseArgs } from 'node:util';
import { controlSources } from './suite/control-sources.ts';
import { reportOf, tableOf } from './suite/report.ts';
import { runFaults } from './suite/run.ts';
import { controls, long, usual, type Control } from './suite/settings.ts';

const { values } = parseArgs({
  options: {
    long: { type: 'boolean' },
    json: { type: 'boolean' },
    seed: { type: 'string' },
    control: { type: 'string' },
    writes: { type: 'string' },
    sources: { type: 'string' },
  },
});

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
function verdictOn(control: Control, duplicates: number): string {
  const seen = `control "${control}": ${duplicates} duplicates`;
  if (control === 'intact') return duplicates === 0 ? `${seen}, as it must be` : `${seen}, WHICH MUST NOT BE`;
  return duplicates > 0 ? `${seen}, as it must be` : `${seen}: THE SUITE PROVES NOTHING`;
}

async function main(): Promise<number> {
  const control = values.control as Control | undefined;
  if (control !== undefined && !Object.hasOwn(controls, control))
    throw new Error(`--control takes ${Object.keys(controls).join(' or ')}`);
  const size = control ? controls[control] : values.long ? long : usual;
  const settings = { ...size, seed: seedOf(values.seed) };
  if (values.writes !== undefined) settings.writes = Number(values.writes);
  say(`seed ${settings.seed}`);
  const copy = control ? await controlSources(control) : undefined;
  const sources = values.sources ?? copy?.folder;
  const onOpen = (close: () => Promise<void>): void => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => void Promise.all([close(), copy?.remove()]).then(() => process.exit(1)));
  };
  try {
    const outcome = await runFaults({
      settings,
      ...(sources === undefined ? {} : { sources }),
      say,
      onOpen,
    });
    const report = reportOf(outcome, settings);
    if (values.json) print(JSON.stringify(report));
    for (const line of tableOf(report, outcome)) (values.json ? say : print)(line);
    if (!control) return report.holds ? 0 : 1;
    (values.json ? say : print)(verdictOn(control, report.duplicates));
    return control === 'intact' ? Number(report.duplicates > 0) : Number(report.duplicates === 0);
  } finally {
    await copy?.remove();
  }
}

process.exit(await main());
