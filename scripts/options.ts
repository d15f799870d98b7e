import { parseArgs } from 'node:util';

/** The switches of a command; `--help` prints the usage and ends, what is not known ends with it. */
export function readSwitches<Name extends string>(usage: string, names: readonly Name[]): Set<Name> {
  const known = [...names, 'help'];
  const options = Object.fromEntries(known.map((name) => [name, { type: 'boolean' as const }]));
  const given = parsed(options, usage);
  if (given['help']) {
    console.log(usage);
    process.exit(0);
  }
  return new Set(names.filter((name) => given[name]));
}

function parsed(options: Record<string, { type: 'boolean' }>, usage: string): Record<string, unknown> {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return process.exit(2);
  }
}
