/** What an operator's command takes, beside its words. */
interface OperatorOption {
  /** Of its value; nothing where it has none. */
  value?: string;
  about: string;
}

/** The words that belong to whoever runs svc; `src/command.ts` reads them. Everything else is a builder's. */
export const operatorWords = [
  {
    words: 'server',
    usage: 'server [part]',
    about: 'start svc, whole or as `api` or `worker`; bare, the parts are words, too',
    options: {},
  },
  {
    words: 'migrate',
    usage: 'migrate',
    about:
      'bring the database to this release; with --plan it says what would be done and for how long it locks',
    options: {
      plan: { about: 'say what would be done and for how long it locks; do nothing' },
      json: { about: 'with --plan: say it as JSON' },
    },
  },
  {
    words: 'server doctor',
    usage: 'server doctor',
    about: 'look at all that a node needs, and say what is wrong and what to do about it; --json',
    options: { json: { about: 'say what was found as JSON' } },
  },
  {
    words: 'master-keys rotate',
    usage: 'master-keys rotate',
    about: 'rewrap what is sealed with the newest master key',
    options: {},
  },
  {
    words: 'operator-keys create',
    usage: 'operator-keys create --full',
    about: 'make an API key with all rights in the database, beside the API; --label and --project name it',
    options: {
      full: { about: 'that the key has all rights; it must be said' },
      label: { value: '<text>', about: 'what the key is for' },
      project: { value: '<name>', about: 'the project of the key; the first one unless named' },
    },
  },
  {
    words: 'people invite',
    usage: 'people invite --owner',
    about: 'print a link by which an owner of every project comes; --email says whose it is',
    options: {
      owner: { about: 'that an owner of every project comes; it must be said' },
      email: { value: '<address>', about: 'whose link it is' },
    },
  },
  {
    words: 'people reset',
    usage: 'people reset --email <address>',
    about: 'print a link by which somebody who lost password or second factor chooses a new password',
    options: { email: { value: '<address>', about: 'of that person; it must be said' } },
  },
  {
    words: 'people demote',
    usage: 'people demote --email <address>',
    about: 'take back from somebody that they are an operator; their roles in projects stay',
    options: { email: { value: '<address>', about: 'of that person; it must be said' } },
  },
  {
    words: 'restore hold',
    usage: 'restore hold',
    about: 'let no node work with the database, after its files were put back',
    options: {},
  },
  {
    words: 'restore resume',
    usage: 'restore resume',
    about:
      'let the nodes work with a restored database; what was unfinished in it becomes doubtful, with --nothing-lost it does not',
    options: {
      'nothing-lost': { about: 'the database was moved, not restored: what was unfinished in it goes on' },
    },
  },
] as const satisfies readonly {
  words: string;
  usage: string;
  about: string;
  options: Readonly<Record<string, OperatorOption>>;
}[];

type OperatorWord = (typeof operatorWords)[number];

const parts = ['all', 'api', 'worker'];
const firstWords = new Set([...parts, ...operatorWords.map(({ words }) => words.split(' ')[0] ?? '')]);

/** Whether the arguments mean the server rather than a command that calls it. */
export function isOperators([word = '']: readonly string[]): boolean {
  return firstWords.has(word);
}

/** What `--help` after an operator's words, or `help` before them, tells; nothing where it is not asked for. */
export function operatorHelp(given: readonly string[]): string | undefined {
  const args = given[0] === 'help' ? [...given.slice(1), '--help'] : given;
  if (!isOperators(args) || !args.some((one) => one === '--help' || one === '-h')) return undefined;
  const [first = '', second = ''] = args.filter((one) => !one.startsWith('-'));
  const whole = parts.includes(first) ? 'server' : [first, second].join(' ').trim();
  const one =
    operatorWords.find(({ words }) => words === whole) ?? operatorWords.find(({ words }) => words === first);
  if (one) return helpOf(one);
  const within = operatorWords.filter(({ words }) => words.startsWith(`${first} `));
  return `Usage: svc ${first} <command>\n\nCommands:\n${listed(within.map(({ usage, about }) => [usage, about]))}\n`;
}

function helpOf({ words, usage, about, options }: OperatorWord): string {
  const flags = Object.entries<OperatorOption>(options).map(
    ([name, option]) => [['--' + name, option.value].filter(Boolean).join(' '), option.about] as const,
  );
  const beside =
    words === 'server'
      ? `\nOf the same word:\n${listed([['server doctor', 'what is wrong with the node']])}\n`
      : '';
  return `Usage: svc ${usage}${flags.length > 0 ? ' [options]' : ''}

${about}

Options:
${listed([...flags, ['-h, --help', 'display help for command']])}
${beside}
The environment names the database and all else: DATABASE_URL, or SVC_DATA_DIR for the embedded one
(docs/configuration.md).

Exit codes: 0 done, 1 refused or failed, 2 not understood, 4 no database reached
`;
}

function listed(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, about]) => `  ${name.padEnd(width)}  ${about}`).join('\n');
}
