import { format } from 'node:util';
import ts from 'typescript';
import { unknown, valueOf, type Source } from './literal.ts';

/** A test as it stands in a file; one of a table has a title for each row that can be told without running it. */
export interface DeclaredTest {
  /** With the titles of the blocks around it, joined by ` > `; what only running would tell is `…`. */
  title: string;
  cases: string[];
  skipped: boolean;
}

const blocks = new Set(['describe', 'suite']);
const tests = new Set(['test', 'it']);
const skipping = new Set(['skip', 'todo', 'skipIf', 'runIf']);
const modifiers = new Set([...skipping, 'only', 'fails', 'concurrent', 'sequential', 'each', 'for']);

/** The tests of a file, read from its text alone. */
export function declaredTests(source: Source): DeclaredTest[] {
  const found: DeclaredTest[] = [];
  const visit = (node: ts.Node, around: string[], skipped: boolean): void => {
    const call = ts.isCallExpression(node) ? readCall(node, source) : undefined;
    if (!call) {
      ts.forEachChild(node, (child) => visit(child, around, skipped));
      return;
    }
    const isSkipped = skipped || call.skipped;
    const titles = [...around, call.title];
    if (call.kind === 'block') {
      for (const argument of call.rest) visit(argument, titles, isSkipped);
      return;
    }
    found.push({
      title: titles.join(' > '),
      cases: call.rows.map((row) => [...around, fill(call.title, row)].join(' > ')),
      skipped: isSkipped,
    });
  };
  visit(source.tree, [], false);
  return found;
}

interface Call {
  kind: 'block' | 'test';
  title: string;
  rest: readonly ts.Expression[];
  skipped: boolean;
  rows: unknown[][];
}

function readCall(node: ts.CallExpression, source: Source): Call | undefined {
  const [first, ...rest] = node.arguments;
  const callee = readCallee(node.expression);
  if (!callee || !first) return undefined;
  const options = rest.filter((argument) => ts.isObjectLiteralExpression(argument));
  const isOptedOut = options.some((option) => /\b(skip|todo)\s*:/.test(option.getText(source.tree)));
  return {
    kind: blocks.has(callee.root) ? 'block' : 'test',
    title: titleOf(first, source),
    rest,
    skipped: isOptedOut || callee.words.some((word) => skipping.has(word)),
    rows: callee.table ? rowsOf(valueOf(callee.table, source)) : [],
  };
}

/** `it`, `it.only`, `it.each(table)`: the root, the words after it, and the table. Anything else is no test. */
function readCallee(
  callee: ts.Expression,
): { root: string; words: string[]; table?: ts.Expression } | undefined {
  const words: string[] = [];
  let table: ts.Expression | undefined;
  let at = callee;
  if (ts.isCallExpression(at)) {
    table = at.arguments[0];
    at = at.expression;
    if (!ts.isPropertyAccessExpression(at)) return undefined;
  }
  while (ts.isPropertyAccessExpression(at)) {
    words.unshift(at.name.text);
    at = at.expression;
  }
  if (!ts.isIdentifier(at) || !(blocks.has(at.text) || tests.has(at.text))) return undefined;
  if (words.some((word) => !modifiers.has(word))) return undefined;
  return { root: at.text, words, ...(table ? { table } : {}) };
}

function titleOf(node: ts.Expression, source: Source): string {
  const value = valueOf(node, source);
  if (typeof value === 'string') return value;
  if (!ts.isTemplateExpression(node)) return '…';
  return node.head.text + node.templateSpans.map((span) => `…${span.literal.text}`).join('');
}

function rowsOf(table: unknown): unknown[][] {
  if (!Array.isArray(table)) return [];
  return table.map((row: unknown): unknown[] => (Array.isArray(row) ? row : [row]));
}

/** As the runner words it: `%s` and its like take one value after the other, `$name` a member of the only one. */
function fill(title: string, row: readonly unknown[]): string {
  let next = 0;
  const filled = title.replaceAll(/%[sdijfo]/g, (place) => shown(place, row[next++]));
  const members = Object.entries(row.length === 1 && typeof row[0] === 'object' ? { ...row[0] } : {});
  return members.reduce((text, [name, value]) => text.replaceAll(`$${name}`, shown('%s', value)), filled);
}

function shown(place: string, value: unknown): string {
  return value === unknown ? '…' : format(place, value);
}
