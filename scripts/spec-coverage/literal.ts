import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';

/** Stands for a value that only running the code would tell. */
export const unknown = Symbol('unknown');

export interface Source {
  path: string;
  tree: ts.SourceFile;
}

const parsed = new Map<string, Source>();

export function parse(path: string, text = readFileSync(path, 'utf8')): Source {
  const found = parsed.get(path);
  if (found) return found;
  const source = { path, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) };
  parsed.set(path, source);
  return source;
}

/** The value of an expression as far as it is written down: literals, arrays and objects of them, and names of such. */
export function valueOf(node: ts.Expression, source: Source): unknown {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (node.kind === ts.SyntaxKind.TrueKeyword) return true;
  if (node.kind === ts.SyntaxKind.FalseKeyword) return false;
  if (node.kind === ts.SyntaxKind.NullKeyword) return null;
  if (ts.isAsExpression(node) || ts.isSatisfiesExpression(node) || ts.isParenthesizedExpression(node))
    return valueOf(node.expression, source);
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.MinusToken) {
    const value = valueOf(node.operand, source);
    return typeof value === 'number' ? -value : unknown;
  }
  if (ts.isArrayLiteralExpression(node)) return arrayOf(node, source);
  if (ts.isObjectLiteralExpression(node)) return objectOf(node, source);
  if (ts.isIdentifier(node)) {
    if (node.text === 'undefined') return undefined;
    const found = declarationOf(node.text, source);
    return found ? valueOf(found.node, found.source) : unknown;
  }
  return unknown;
}

function arrayOf(node: ts.ArrayLiteralExpression, source: Source): unknown {
  if (node.elements.some((element) => ts.isSpreadElement(element))) return unknown;
  return node.elements.map((element) => valueOf(element, source));
}

function objectOf(node: ts.ObjectLiteralExpression, source: Source): unknown {
  const entries: [string, unknown][] = [];
  for (const property of node.properties) {
    if (!ts.isPropertyAssignment(property) || ts.isComputedPropertyName(property.name)) return unknown;
    entries.push([property.name.text, valueOf(property.initializer, source)]);
  }
  return Object.fromEntries(entries);
}

/** Where a name gets its value: a `const` of the file, or one that it imports from a file beside it. */
function declarationOf(name: string, source: Source): { node: ts.Expression; source: Source } | undefined {
  let node: ts.Expression | undefined;
  const search = (at: ts.Node): void => {
    if (ts.isVariableDeclaration(at) && ts.isIdentifier(at.name) && at.name.text === name)
      node ??= at.initializer;
    ts.forEachChild(at, search);
  };
  search(source.tree);
  if (node) return { node, source };
  const from = importedFrom(name, source);
  return from === undefined ? undefined : declarationOf(name, from);
}

function importedFrom(name: string, source: Source): Source | undefined {
  for (const statement of source.tree.statements) {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) continue;
    const bindings = statement.importClause?.namedBindings;
    const names = bindings && ts.isNamedImports(bindings) ? bindings.elements : [];
    if (!names.some((element) => element.name.text === name && !element.propertyName)) continue;
    const path = join(dirname(source.path), statement.moduleSpecifier.text);
    return statement.moduleSpecifier.text.startsWith('.') && existsSync(path) ? parse(path) : undefined;
  }
  return undefined;
}
