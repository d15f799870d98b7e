import { styleText } from 'node:util';
import type { List } from '../../ui/client/src/index.ts';
import type { ConnectionOptions } from './connection.ts';
import { say, tell } from './output.ts';

export interface ListOptions extends ConnectionOptions {
  limit: number;
}

type Cell = string | number | boolean | readonly string[] | null | undefined;

/** The columns of a list, by title. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => Cell>>;

const mostOnPage = 1_000;

/** What a list is asked for at a time. */
export function pageSizeOf({ limit }: ListOptions): { pageSize: number } {
  return { pageSize: Math.min(limit, mostOnPage) };
}

/** Says a list up to its limit: a table for people; with `--json` an object a line, as it comes. */
export async function sayList<Item>(
  options: ListOptions,
  list: List<Item> | AsyncIterable<Item>,
  columns: Columns<Item>,
): Promise<void> {
  const items: Item[] = [];
  let count = 0;
  let isMore = false;
  for await (const item of list) {
    if (count === options.limit) {
      isMore = true;
      break;
    }
    count += 1;
    if (options.json) say(options, item, '');
    else items.push(item);
  }
  if (options.json) return;
  if (count === 0) tell('There are none.');
  else process.stdout.write(table(items, columns));
  if (isMore) tell(`There are more: --limit ${options.limit * 5}.`);
}

function table<Item>(items: readonly Item[], columns: Columns<Item>): string {
  const titles = Object.keys(columns);
  const rows = items.map((item) => titles.map((title) => cell(columns[title]?.(item))));
  const widths = titles.map((title, n) => Math.max(title.length, ...rows.map((row) => row[n]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((text, n) => text.padEnd(widths[n] ?? 0))
      .join('  ')
      .trimEnd();
  return [heading(line(titles)), ...rows.map(line), ''].join('\n');
}

/** One line of it: a row is a row. */
function cell(value: Cell): string {
  const text = typeof value === 'object' && value !== null ? value.join(', ') : String(value ?? '');
  // oxlint-disable-next-line no-control-regex -- what a provider or a customer wrote may hold anything
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}

function heading(text: string): string {
  return process.stdout.isTTY && !process.env['NO_COLOR'] ? styleText('bold', text) : text;
}

/** Says one thing: as YAML for people. */
export async function sayOne(options: ConnectionOptions, value: object): Promise<void> {
  if (options.json) return say(options, value, '');
  const { yamlText } = await import('./yaml-text.ts');
  process.stdout.write(yamlText(value));
}
