import { parseArgs } from 'node:util';

/** The switches of a command; `--help` prints the usage and ends, what is not known ends with it. */
export function readSwitches<Name extends string>(usage: string, names: readonly Name[]): Set<Name | 'help'> {
  const known = [...names, 'help' as const];
  const options = Object.fromEntries(known.map((name) => [name, { type: 'boolean' as const }]));
  try {
    const { values } = parseArgs({ options });
    if (!values['help']) return new Set(known.filter((name) => values[name]));
    console.log(usage);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
  process.exit(0);
}
