import { InvalidArgumentError, type Command } from 'commander';
import { exitCodes, Failure } from '../failure.ts';
import { Words } from '../misuse.ts';

/** A command, with examples of it. */
export function command(parent: Command, name: string, about: string, ...examples: string[]): Command {
  const made = parent
    .command(name)
    .description(about)
    .addHelpText(
      'after',
      `\nExample${examples.length > 1 ? 's' : ''}:\n${examples.map((one) => `  ${one}`).join('\n')}`,
    );
  if (made instanceof Words) made.examples = examples.map((one) => one.split('\n')[0] ?? '');
  return made;
}

/** A command that calls svc. */
export function calling(parent: Command, name: string, about: string, ...examples: string[]): Command {
  return command(parent, name, about, ...examples)
    .option('--url <url>', 'the server')
    .option('-p, --project <name>', 'the project, by name or id', named)
    .option('--profile <name>', 'the profile that svc login kept (SVC_PROFILE)', named)
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
    throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
  };
}

/** A time as RFC 3339 has it, or a day; in UTC unless a zone is named. */
export function time(text: string): string {
  const value = new Date(/T[\d:.]+$/.test(text) ? `${text}Z` : text);
  const [day] = /^\d{4}-\d\d-\d\d/.exec(text) ?? [];
  // The 31st of February is a day of March to the parser.
  const isDay = day !== undefined && new Date(`${day}T00:00Z`).toJSON()?.startsWith(day);
  if (isDay && !Number.isNaN(value.getTime())) return value.toISOString();
  throw new InvalidArgumentError(
    'Give a time such as 2026-11-22T08:00:00Z, or a day; in UTC unless a zone is named.',
  );
}

/** The name or id of a thing: never a path, an address, or what a shell left quotes around. */
export function named(text: string): string {
  if (/^[^-\s'"`/:?#%\\][^\s'"`/:?#%\\]*$/.test(text) && !/^\.+$/.test(text)) return text;
  throw new InvalidArgumentError('Give a name or an id, without blanks, quotes or slashes.');
}

/** The id of an installation, which a list that is narrowed by it would not miss. */
export function uuid(text: string): string {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return text;
  throw new InvalidArgumentError('Give its id: `svc installations list` tells it.');
}

/** Refuses two times of which the later comes first. */
export function inOrder(made: Command, first: string, last: string): Command {
  return made.hook('preAction', (asked) => {
    const given = asked.opts<Record<string, string | undefined>>();
    const [from = '', to] = [given[first], given[last]];
    if (to !== undefined && from > to)
      throw new Failure(
        `--${first} ${from} is later than --${last} ${to}.`,
        'Give the earlier time first.',
        exitCodes.usage,
      );
  });
}

/** What may have any letters, but not none. */
export function filled(text: string): string {
  if (text.trim() === text && text !== '') return text;
  throw new InvalidArgumentError('Give a text that neither begins nor ends with a blank.');
}

/** What goes into a header. */
export function visible(text: string): string {
  if (/^[!-~]{1,255}$/.test(text)) return text;
  throw new InvalidArgumentError('Give 1 to 255 letters, digits and signs of ASCII, without blanks.');
}

/** An option that may be given several times. */
export function several(text: string, before: string[] = []): string[] {
  return [...before, text];
}
