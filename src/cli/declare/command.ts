import { InvalidArgumentError, type Command } from 'commander';

/** A command, with examples of it. */
export function command(parent: Command, name: string, about: string, ...examples: string[]): Command {
  return parent
    .command(name)
    .description(about)
    .addHelpText(
      'after',
      `\nExample${examples.length > 1 ? 's' : ''}:\n${examples.map((one) => `  ${one}`).join('\n')}`,
    );
}

/** A command that calls svc. */
export function calling(parent: Command, name: string, about: string, ...examples: string[]): Command {
  return command(parent, name, about, ...examples)
    .option('--url <url>', 'the server')
    .option('-p, --project <name>', 'the project, by name or id')
    .option('--profile <name>', 'the profile that svc login kept (SVC_PROFILE)')
    .option('--json', 'say the result as JSON, and what failed as JSON on the error output');
}

/** A command that tells a list. */
export function listing(parent: Command, name: string, about: string, ...examples: string[]): Command {
  return calling(parent, name, about, ...examples).option(
    '-n, --limit <count>',
    'how many at the most',
    whole(1, 1_000_000),
    20,
  );
}

export function whole(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It is a whole number from ${least} to ${most}.`);
  };
}

/** A time as RFC 3339 has it, or a day. */
export function time(text: string): string {
  const value = new Date(text);
  if (/^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(value.getTime())) return value.toISOString();
  throw new InvalidArgumentError('It is a time such as 2026-11-22T08:00:00Z.');
}

/** An option that may be given several times. */
export function several(text: string, before: string[] = []): string[] {
  return [...before, text];
}
