import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { isOperators } from './operator-words.ts';
import { createProgram } from './program.ts';

/** The commands that do nothing but read what they are given. */
function parser(): { program: Command; ran: string[]; helps: string[] } {
  const program = createProgram();
  const ran: string[] = [];
  const helps: string[] = [];
  const quiet = { writeOut: () => undefined, writeErr: () => undefined };
  const prepare = (command: Command, path: string): void => {
    command.exitOverride().configureOutput({ ...quiet, writeOut: (text) => helps.push(text) });
    for (const one of command.commands) prepare(one, `${path} ${one.name()}`);
    if (command.commands.length === 0) command.action(() => void ran.push(path));
  };
  prepare(program, 'svc');
  return { program, ran, helps };
}

/** The commands of a text, without what a shell does around them. */
function commandsOf(text: string): string[] {
  return text
    .split('\n')
    .flatMap((line) => line.split(' && '))
    .map((line) => line.trim().replace(/ [<>|] .*$/, ''))
    .filter((line) => line.startsWith('svc '));
}

function wordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, one, two, three]) => one ?? two ?? three ?? '',
  );
}

async function accepts(line: string): Promise<void> {
  const { program, ran } = parser();
  const words = wordsOf(line);
  if (isOperators(words.slice(1))) return;
  await program.parseAsync(['node', ...words]).catch((error: Error) => {
    throw new Error(`${line}: ${error.message}`);
  });
  expect(ran).toHaveLength(1);
}

describe('cli/program', () => {
  it('every example of a help is a command with options that exist', async () => {
    const { program, helps } = parser();
    const leaves = (command: Command): Command[] =>
      command.commands.length === 0 ? [command] : command.commands.flatMap(leaves);
    for (const one of leaves(program)) one.outputHelp();
    const examples = helps.flatMap((text) => commandsOf(text.split(/\nExamples?:\n/)[1] ?? ''));
    expect(examples.length).toBeGreaterThan(leaves(program).length);
    for (const line of examples) await accepts(line);
  });

  it('every example of the pages is one, too', async () => {
    const pages = ['docs/cli.md', 'README.md', 'docs/operating.md', 'docs/guides/destinations.md'];
    const texts = await Promise.all(
      pages.map((page) => readFile(join(import.meta.dirname, '../..', page), 'utf8')),
    );
    const blocks = texts.flatMap((text) =>
      [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, inner = '']) => inner),
    );
    const examples = commandsOf(blocks.join('\n').replaceAll('npx svc', 'svc'));
    expect(examples.length).toBeGreaterThan(5);
    for (const line of examples) await accepts(line);
  });
});
