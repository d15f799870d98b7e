import type { Command } from 'commander';
import { operatorWords } from '../src/cli/operator-words.ts';
import { createProgram } from '../src/cli/program.ts';

const head = '## The commands';
/** Those that every command which calls svc has. */
const common = new Set(['url', 'project', 'profile', 'json']);

/** The page on the command line: what stands before the commands is written by hand. */
export function cliPage(before: string): string {
  const [written = ''] = before.split(`${head}\n`);
  return `${written}${head}

| command | does |
| --- | --- |
${[...operatorWords.map(({ usage, about }) => `| \`svc ${usage}\` | ${about} ([operating.md](operating.md)) |`), ...rows(createProgram(), [])].join('\n')}
`;
}

function rows(command: Command, above: string[]): string[] {
  const words = [...above, command.name()];
  if (command.commands.length > 0) return command.commands.flatMap((one) => rows(one, words));
  const taken = command.registeredArguments.map((one) => {
    const name = `${one.name()}${one.variadic ? '...' : ''}`;
    return one.required ? `<${name}>` : `[${name}]`;
  });
  const options = command.options
    .filter((option) => !common.has(option.attributeName()))
    .map(({ flags, mandatory }) => `\`${flags.replaceAll('|', ' or ')}\`${mandatory ? ' (required)' : ''}`);
  const about = `${command.description()}${options.length > 0 ? `. ${options.join(', ')}` : ''}`;
  return [`| \`${[...words, ...taken].join(' ')}\` | ${about.replaceAll('|', '\\|')} |`];
}
