import { Command, type HelpContext, type ParseOptionsResult } from 'commander';
import { exitCodes, Failure } from './failure.ts';
import { isOperators } from './operator-words.ts';

/** A command that says what is wrong with its words as every other failure is said. */
export class Words extends Command {
  /** Of its help. */
  examples: readonly string[] = [];

  #unknown: string | undefined;

  /** An option that is mistyped is told before the one that is missing for it. */
  override parseOptions(words: string[]): ParseOptionsResult {
    const parsed = super.parseOptions(words);
    this.#unknown = parsed.unknown[0];
    return parsed;
  }

  override createCommand(name?: string): Words {
    return new Words(name);
  }

  /** Of those that only hold others: bare, one is asked for. */
  override help(context?: HelpContext | ((text: string) => string)): never {
    if (typeof context === 'function') return super.help(context);
    if (context?.error && this.parent) throw bareOf(this);
    const [first, asked] = this.args;
    if (context?.error && first === 'help' && asked !== undefined) this.#refuse(asked);
    return super.help(context);
  }

  /** A word that is no command, such as the one behind `svc help`. */
  #refuse(word: string): never {
    this.args = [word];
    return (this as unknown as { unknownCommand(): never }).unknownCommand();
  }

  override error(message: string, { code = '' }: { code?: string } = {}): never {
    const unknown = this.#unknown;
    this.#unknown = undefined;
    // What commander makes of it comes back here, with what may have been meant.
    if (code === 'commander.missingMandatoryOptionValue' && unknown !== undefined)
      (this as unknown as { unknownOption(option: string): never }).unknownOption(unknown);
    throw misuseOf(this, message, code);
  }
}

/** `svc keys list`. */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

function bareOf(command: Command): Failure {
  const path = pathOf(command);
  const names = command.commands.map((one) => one.name()).join(', ');
  return new Failure(
    `${path} needs one of its commands: ${names}.`,
    `\`${path} --help\` tells what each does.`,
    exitCodes.usage,
    { code: 'usage' },
  );
}

/** What is wrong, and what to write instead: an example of the command, where its form is what was missed. */
function misuseOf(command: Words, message: string, code: string): Failure {
  const path = pathOf(command);
  const help = `\`${path} --help\` tells`;
  const [, quoted = ''] = /'([^']*)'/.exec(message) ?? [];
  const [, near] = /\(Did you mean (?:one of )?(.*)\?\)/.exec(message) ?? [];
  const meant = near === undefined ? '' : `Did you mean ${near}? `;
  const written = command.examples.length > 0 ? `Write it such as ${command.examples[0]}` : `${help} how`;
  const said = (sentence: string, remedy: string): Failure =>
    new Failure(`${sentence}.`, remedy, exitCodes.usage, { code: 'usage' });
  switch (code) {
    case 'commander.unknownCommand':
      return said(`${path} has no command ${command.args[0] ?? ''}`, `${meant}${help} those that there are.`);
    case 'commander.unknownOption': {
      const behind = command.parent ? undefined : behindOf(command, quoted);
      if (behind !== undefined)
        return said(`Options stand behind the command, and ${quoted} stands before it`, behind);
      return said(`${path} has no option ${quoted}`, `${meant}${help} those that there are.`);
    }
    case 'commander.missingArgument':
      return said(`${path} needs <${quoted}>${aboutOf(command, quoted)}`, written);
    case 'commander.missingMandatoryOptionValue':
      return said(`${path} needs ${quoted}`, written);
    case 'commander.excessArguments':
      return said(
        excessOf(command, path),
        command.registeredArguments.length === 0
          ? written
          : `${written}; what holds blanks stands in quotes.`,
      );
    case 'commander.optionMissingArgument':
      return said(`${quoted} needs a value`, `Write it behind the option; ${help} which.`);
    case 'commander.conflictingOption':
      return said(
        [...message.matchAll(/--[\w-]+/g)].map(([option]) => option).join(' and ') + ' exclude one another',
        'Give one of them.',
      );
    case 'commander.invalidArgument':
      return invalidOf(message, said);
    default:
      return said(message.replace(/^error: /, '').replace(/\.$/, ''), `${help} how it is used.`);
  }
}

/** How an option is written that stands before the command, if some command has it; the command is the first word that is one. */
function behindOf(program: Words, option: string): string | undefined {
  const { rawArgs } = program as unknown as { rawArgs: readonly string[] };
  const leaves = (one: Command): readonly Command[] =>
    one.commands.length > 0 ? one.commands.flatMap(leaves) : [one];
  const word = rawArgs.find(
    (each) => isOperators([each]) || program.commands.some((one) => one.name() === each),
  );
  const taken = leaves(program)
    .flatMap((one) => one.options)
    .find((one) => [one.short, one.long].includes(option));
  if (word === undefined || !taken) return undefined;
  const value = taken.flags.split(' ').at(-1) ?? '';
  return `Write it such as svc ${word} … ${option}${value.startsWith('<') ? ` ${value}` : ''}`;
}

function aboutOf(command: Command, name: string): string {
  const about = command.registeredArguments.find((one) => one.name() === name)?.description;
  return about ? `: ${about}` : '';
}

function excessOf({ registeredArguments, args }: Command, path: string): string {
  const most = registeredArguments.length;
  const taken = most === 0 ? 'no argument' : most === 1 ? 'one argument' : `${most} arguments`;
  return `${path} takes ${taken} and got ${args.length}: ${args.map(hidden).join(', ')}`;
}

function shown(value: string): string {
  return value.trim() === value ? hidden(value) : JSON.stringify(value);
}

/** A key among the words is told to nobody: what is said may be kept. */
function hidden(word: string): string {
  return word.startsWith('svc_') ? 'svc_…' : word;
}

/** What is wrong with a value stands behind "is invalid". */
function invalidOf(message: string, said: (sentence: string, remedy: string) => Failure): Failure {
  const ofOption = /option '([^']*)' argument '(?<value>.*)' is invalid\. (?<why>.*)$/s.exec(message);
  const ofArgument = /value '(?<value>.*)' is invalid for argument '([^']*)'\. (?<why>.*)$/s.exec(message);
  const { value = '', why = '' } = (ofOption ?? ofArgument)?.groups ?? {};
  const name = ofOption ? (/--[\w-]+/.exec(ofOption[1] ?? '')?.[0] ?? '') : `<${ofArgument?.[2] ?? ''}>`;
  const choices = /^Allowed choices are (.*)\.$/s.exec(why)?.[1];
  return said(
    value.trim() === '' ? `${name} is empty` : `${shown(value)} is no value of ${name}`,
    choices === undefined ? why : `Give one of ${choices}.`,
  );
}
