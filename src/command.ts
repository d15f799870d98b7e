import { parseArgs } from 'node:util';
import { Value } from 'typebox/value';
import { exitCodes, Failure } from './cli/failure.ts';
import { operatorWords } from './cli/operator-words.ts';
import { nearest } from './kit/nearest.ts';
import { Email } from './people/schema.ts';

const roles = [
  'all',
  'api',
  'worker',
  'migrate',
  'doctor',
  'master-keys rotate',
  'operator-keys create',
  'people invite',
  'people reset',
  'people demote',
  'restore hold',
  'restore resume',
] as const;

/** What the process was started as. */
export interface Command {
  role: (typeof roles)[number];
  /** Of `operator-keys create`. */
  label: string;
  project?: string;
  /** Of `people`. */
  email?: string;
  /** Of `restore resume`: the database was moved, not restored. */
  nothingLost: boolean;
  /** Of `migrate`: say what is to be done, and do nothing. */
  plan: boolean;
  /** Of `doctor` and `migrate --plan`. */
  json: boolean;
}

/** Reads the words after the program's name. Throws a Failure that says what is wrong with them. */
export function readCommand(args: readonly string[]): Command {
  const { words, given } = parsed(args);
  const role = roleOf(words);
  const values = valuesOf(role, given);
  refuseUnfit(role, values);
  const { label = 'made on the server', project, email } = values.texts;
  const { plan = false, json = false, 'nothing-lost': nothingLost = false } = values.flags;
  const named = {
    ...(project === undefined ? {} : { project }),
    ...(email === undefined ? {} : { email }),
  };
  return { role, label, nothingLost, plan, json, ...named };
}

type Option = (typeof operatorWords)[number]['options'] extends infer Each
  ? Each extends unknown
    ? keyof Each & string
    : never
  : never;

/** An option as it stands among the arguments. */
interface Given {
  name: string;
  /** As it was written. */
  written: string;
  value: string | undefined;
  /** Behind its `=`. */
  inline: boolean | undefined;
}

const texts = ['label', 'project', 'email'] as const satisfies Option[];

/** Node's own refusals are not for people: nothing is refused here. */
function parsed(args: readonly string[]): { words: string[]; given: Given[] } {
  const options = Object.fromEntries(texts.map((name) => [name, { type: 'string' as const }]));
  const { tokens, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    strict: false,
    tokens: true,
    options,
  });
  const given = tokens.flatMap((token) =>
    token.kind === 'option'
      ? [{ name: token.name, written: token.rawName, value: token.value, inline: token.inlineValue }]
      : [],
  );
  return { words: positionals, given };
}

function roleOf(words: readonly string[]): Command['role'] {
  const [first = 'all', ...others] = words;
  const asked = (first === 'server' ? others : words).join(' ') || 'all';
  const role = roles.find((each) => each === asked);
  if (role) return role;
  const [second, third] = others;
  const within = roles.flatMap((each) =>
    first === 'server' ? [each] : each.startsWith(`${first} `) ? [each.slice(first.length + 1)] : [],
  );
  if (within.length > 0 && second === undefined)
    throw usage(`svc ${first} needs one of its commands: ${within.join(', ')}.`, helpOn(first));
  if (within.length > 0 && !within.includes(String(second)))
    throw usage(
      `svc ${first} has no ${first === 'server' ? 'part' : 'command'} ${second}.`,
      `${meant(String(second), within)}${helpOn(first, 'tells those that there are')}`,
    );
  const known = [...new Set(operatorWords.map((each) => each.words.split(' ')[0] ?? ''))];
  if (within.length === 0 && !known.includes(first) && !roles.some((each) => each === first))
    throw usage(
      `svc has no command ${first}.`,
      `${meant(first, known)}${helpOn('', 'tells those that there are')}`,
    );
  const path = within.length > 0 ? `${first} ${second}` : first;
  const more = within.length > 0 ? third : second;
  throw usage(`svc ${path} takes no further word and got ${more}.`, `Leave it away; ${helpOn(path)}`);
}

interface Values {
  texts: Partial<Record<(typeof texts)[number], string>>;
  flags: Partial<Record<Exclude<Option, (typeof texts)[number]>, boolean>>;
}

function valuesOf(role: Command['role'], given: readonly Given[]): Values {
  const values: Record<keyof Values, Record<string, string | boolean>> = { texts: {}, flags: {} };
  const path = pathOf(role);
  const own = optionsOf(path);
  for (const { name, written, value, inline = false } of given) {
    if (!own.includes(name)) throw unknownOption(path, written, own);
    if (!texts.some((each) => each === name)) {
      if (value !== undefined) throw usage(`${written} takes no value.`, 'Leave the value away.');
      values.flags[name] = true;
    } else if (value === undefined || (!inline && value.startsWith('-')))
      throw usage(`${written} needs a value.`, `Write it behind the option; ${helpOn(path)}`);
    else values.texts[name] = value;
  }
  return values;
}

function unknownOption(path: string, written: string, own: readonly string[]): Failure {
  const owners = operatorWords.filter(({ options }) => Object.keys(options).includes(written.slice(2)));
  const elsewhere = owners.map(({ words }) => `svc ${words}`).join(' and ');
  const near = meant(
    written,
    own.map((name) => `--${name}`),
  );
  const whose = elsewhere === '' ? near : `It belongs to ${elsewhere}. `;
  return usage(
    `svc ${path} has no option ${written}.`,
    `${whose}${helpOn(path, 'tells those that there are')}`,
  );
}

/** What must be said, since it is no small thing, and what cannot be meant. */
function refuseUnfit(role: Command['role'], { texts: { email }, flags }: Values): void {
  if (role === 'operator-keys create' && !flags.full)
    throw usage(
      'svc operator-keys create makes keys with all rights, which must be said.',
      'Write svc operator-keys create --full.',
    );
  if (role === 'people invite' && !flags.owner)
    throw usage(
      'svc people invite makes an owner of every project and operator, which must be said.',
      'Write svc people invite --owner.',
    );
  if ((role === 'people reset' || role === 'people demote') && !email)
    throw usage(`svc ${role} needs the address of the person.`, 'Give it by --email.');
  const isAddress: boolean = email === undefined || Value.Check(Email, email);
  if (!isAddress) throw usage(`${email} is no e-mail address.`, 'Write it such as --email ada@example.com.');
  if (role === 'migrate' && flags.json && !flags.plan)
    throw usage('svc migrate takes --json with --plan only.', 'Leave --json away, or give --plan, too.');
}

/** As it is written. */
function pathOf(role: Command['role']): string {
  if (role === 'doctor') return 'server doctor';
  return role === 'all' || role === 'api' || role === 'worker' ? 'server' : role;
}

function optionsOf(path: string): string[] {
  return Object.keys(operatorWords.find(({ words }) => words === path)?.options ?? {});
}

function meant(written: string, there: readonly string[]): string {
  const near = nearest(written, there);
  return near === undefined ? '' : `Did you mean ${near}? `;
}

function helpOn(path: string, what = 'tells how it is used'): string {
  return `\`svc ${path === '' ? '' : `${path} `}--help\` ${what}.`;
}

function usage(message: string, remedy: string): Failure {
  return new Failure(message, remedy, exitCodes.usage, { code: 'usage' });
}
