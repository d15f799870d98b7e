import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

const help = { help: { type: 'boolean', short: 'h' } } as const;

/** The options of a command; `--help` prints the usage and ends, what is not known ends with it. */
export function readOptions<const Options extends ParseArgsOptionsConfig>(
  usage: string,
  options: Options,
): ReturnType<typeof parseArgs<{ options: Options }>>['values'] {
  try {
    if (parseArgs({ options: help, strict: false }).values.help) {
      console.log(usage);
      process.exit(0);
    }
    return parseArgs({ options }).values;
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    return process.exit(2);
  }
}

/** The same of switches. */
export function readSwitches<Name extends string>(usage: string, names: readonly Name[]): Set<Name> {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'boolean' as const }]));
  const given: Record<string, unknown> = readOptions(usage, options);
  return new Set(names.filter((name) => given[name]));
}
