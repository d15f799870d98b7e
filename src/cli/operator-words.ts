/** The words that belong to whoever runs svc; `src/command.ts` reads them. Everything else is a builder's. */
export const operatorWords = [
  {
    usage: 'server [part]',
    about: 'start svc, whole or as `api` or `worker`; bare, the parts are words, too',
  },
  {
    usage: 'migrate',
    about:
      'bring the database to this release; with --plan it says what would be done and for how long it locks',
  },
  {
    usage: 'server doctor',
    about: 'look at all that a node needs, and say what is wrong and what to do about it; --json',
  },
  { usage: 'master-keys rotate', about: 'rewrap what is sealed with the newest master key' },
  {
    usage: 'operator-keys create --full',
    about: 'make an API key with all rights in the database, beside the API; --label and --project name it',
  },
  {
    usage: 'people invite --owner',
    about: 'print a link by which an owner of every project comes; --email says whose it is',
  },
  {
    usage: 'people reset --email <address>',
    about: 'print a link by which somebody who lost password or second factor chooses a new password',
  },
  { usage: 'restore hold', about: 'let no node work with the database, after its files were put back' },
  {
    usage: 'restore resume',
    about:
      'let the nodes work with a restored database; what was unfinished in it becomes doubtful, with --nothing-lost it does not',
  },
] as const;

const words = new Set([
  'all',
  'api',
  'worker',
  ...operatorWords.map(({ usage }) => usage.split(' ')[0] ?? ''),
]);

/** Whether the arguments mean the server rather than a command that calls it. */
export function isOperators([word = '', ...others]: readonly string[]): boolean {
  return words.has(word) && !others.some((one) => one === '--help' || one === '-h');
}
