import type { Command } from 'commander';
import { operatorWords } from './operator-words.ts';

export type Shell = 'bash' | 'zsh' | 'fish';

/** What may follow some words: further words, and the options of the command that they name. */
interface Next {
  path: string;
  words: string[];
  options: string[];
  /** Of its options, what each takes where that is a choice. */
  choices: { flags: string[]; values: readonly string[] }[];
}

/** `svc completion`: a script for the shell, from the declarations of the commands. */
export function completion(program: Command, shell: Shell): string {
  const next = nextOf(program, '');
  const [root] = next;
  for (const { usage } of operatorWords) root?.words.push(usage.split(' ')[0] ?? '');
  if (root) root.words = [...new Set(root.words)];
  if (shell === 'fish') return fish(next);
  return shell === 'zsh'
    ? `#compdef svc\nautoload -U +X bashcompinit && bashcompinit\n${bash(next)}`
    : bash(next);
}

function nextOf(command: Command, path: string): Next[] {
  const visible = command.commands;
  const options = [...command.options.flatMap(({ short, long }) => [short, long]), '--help'];
  const choices = command.options.flatMap(({ short, long, argChoices }) =>
    argChoices ? [{ flags: [short, long].filter((flag) => flag !== undefined), values: argChoices }] : [],
  );
  return [
    {
      path,
      words: visible.map((one) => one.name()),
      options: options.filter((flag) => flag !== undefined && flag !== null),
      choices,
    },
    ...visible.flatMap((one) => nextOf(one, path === '' ? one.name() : `${path} ${one.name()}`)),
  ];
}

/** Words of the line that are commands lead to a case; what follows them is offered, files where nothing is. */
function bash(next: readonly Next[]): string {
  const cases = next.map(({ path, words, options, choices }) => {
    const asked = choices.map(
      ({ flags, values }) =>
        `        ${flags.join('|')}) COMPREPLY=($(compgen -W "${values.join(' ')}" -- "$cur")); return;;\n`,
    );
    const inner = asked.length > 0 ? `      case "$prev" in\n${asked.join('')}      esac\n` : '';
    return `    "${path}")\n${inner}      words="${words.join(' ')}"; options="${options.join(' ')}";;\n`;
  });
  const paths = next.map(({ path }) => path).filter((path) => path !== '');
  return `_svc() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" path="" word candidate words="" options="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    candidate="\${path:+$path }$word"
    case "|${paths.join('|')}|" in *"|$candidate|"*) path="$candidate";; esac
  done
  case "$path" in
${cases.join('')}  esac
  if [[ "$cur" == -* ]]; then words="$options"; fi
  if [[ -n "$words" ]]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); else COMPREPLY=($(compgen -f -- "$cur")); fi
}
complete -o filenames -F _svc svc
`;
}

function fish(next: readonly Next[]): string {
  const lines = next.flatMap(({ path, words, options, choices }) => {
    const names = path.split(' ').filter((name) => name !== '');
    const seen = names.map((name) => `__fish_seen_subcommand_from ${name}`);
    const unseen = words.length > 0 ? [`not __fish_seen_subcommand_from ${words.join(' ')}`] : [];
    const when = [...seen, ...unseen].join('; and ');
    return [
      ...(words.length > 0 ? [`complete -c svc -f -n '${when}' -a '${words.join(' ')}'`] : []),
      ...options
        .filter((flag) => flag.startsWith('--'))
        .map((flag) => {
          const values = choices.find(({ flags }) => flags.includes(flag))?.values;
          return `complete -c svc -n '${when}' -l ${flag.slice(2)}${values ? ` -x -a '${values.join(' ')}'` : ''}`;
        }),
    ];
  });
  return `${lines.join('\n')}\n`;
}
