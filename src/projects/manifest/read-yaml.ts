import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  parseDocument,
  type Document,
  type Node,
  type YAMLMap,
} from 'yaml';
import { isKept, unkeptDetail } from '../../kit/db/unkept.ts';
import { failed, type Finding, type Path } from './finding.ts';
import { lineBreaksKept, yamlFault } from './yaml-faults.ts';

/** A manifest's text as values, with the place of every key and value. */
export interface YamlSource {
  value: unknown;
  findings: Finding[];
  /** The line and column, both from 1, of a path: of its key in a map, of its value in a list. The nearest ancestor's if it is absent. */
  locate: Locate;
}

export type Locate = (path: Path) => { line: number; column: number };

export const maxManifestBytes = 1024 * 1024;
const maxNodes = 50_000;
/** Beside blanks: a value, its key, a colon and a comma for each. */
const maxTokens = 4 * maxNodes;
const maxDepth = 64;

/** Reads YAML 1.2. Duplicate keys are errors, merge keys are ordinary keys, aliases are bounded by what they unfold to. */
export function readYaml(text: string): YamlSource {
  const lines = new LineCounter();
  const offsets = new Map<string, number>();
  const locate: Locate = (path) => placeOf(path, offsets, lines);
  const refused = (finding: Finding): YamlSource => ({ value: undefined, findings: [finding], locate });
  if (Buffer.byteLength(text) > maxManifestBytes) {
    return refused(failed('yaml-size', [], `the manifest is over ${maxManifestBytes} bytes`));
  }
  if (hasTooManyTokens(text)) {
    return refused(
      failed('yaml-size', [], `the manifest holds more than ${maxTokens} values, keys and signs`),
    );
  }
  let document: Document.Parsed;
  try {
    // The library's own check for duplicate keys is quadratic in the keys of a map; Unfolding does it instead.
    document = parseDocument(text, {
      lineCounter: lines,
      uniqueKeys: false,
      prettyErrors: false,
      merge: false,
    });
  } catch (error) {
    return refused(failed('yaml-syntax', [], `the YAML cannot be read: ${(error as Error).message}`));
  }
  const syntaxError = document.errors[0];
  if (syntaxError) {
    const { message, suggestion, offset } = yamlFault(text, syntaxError);
    offsets.set('[]', offset);
    return refused(failed('yaml-syntax', [], message, suggestion));
  }
  if (document.contents === null || isNothing(document.contents)) return refused(emptyBy(text));
  const unfolding: Unfolding = { offsets, findings: [], anchors: new Map(), nodes: 0 };
  try {
    const value = unfold(document.contents, [], unfolding);
    return { value, findings: unfolding.findings, locate };
  } catch (error) {
    if (error instanceof TooLarge) return refused(error.finding);
    throw error;
  }
}

/** Counted before anything is made of them: a megabyte of `[],` takes seconds and half a gigabyte, and one of errors more. */
function hasTooManyTokens(text: string): boolean {
  let count = 0;
  for (const token of new Lexer().lex(text)) {
    // What the lexer says of itself begins with a control character, as line breaks do.
    if (token > ' ' && token.trim() !== '') count += 1;
    if (count > maxTokens) return true;
  }
  return false;
}

/** A manifest whose line breaks were cut is all one comment where it begins with one. */
function emptyBy(text: string): Finding {
  if (/^\s*#[^\r\n]*integrations:[^\r\n]*$/.test(text))
    return failed('yaml-empty', [], 'the whole text is one line, and a comment', lineBreaksKept);
  return failed(
    'yaml-empty',
    [],
    'the manifest is empty, or holds nothing but comments',
    'Check the path of the file: curl sends nothing where --data-binary @svc.yaml names none',
  );
}

function isNothing(contents: Node): boolean {
  return isScalar(contents) && contents.value === null;
}

interface Unfolding {
  offsets: Map<string, number>;
  findings: Finding[];
  anchors: Map<string, Node>;
  nodes: number;
}

class TooLarge extends Error {
  readonly finding: Finding;
  constructor(finding: Finding) {
    super(finding.message);
    this.finding = finding;
  }
}

function unfold(node: Node | null, path: Path, state: Unfolding): unknown {
  state.nodes += 1;
  if (state.nodes > maxNodes) {
    throw new TooLarge(failed('yaml-size', path, `the manifest unfolds to more than ${maxNodes} values`));
  }
  if (path.length > maxDepth) {
    throw new TooLarge(failed('yaml-size', path, `the manifest is nested deeper than ${maxDepth} levels`));
  }
  if (!node) return null;
  const key = JSON.stringify(path);
  if (!state.offsets.has(key) && node.range) state.offsets.set(key, node.range[0]);
  if (isAlias(node)) {
    const target = state.anchors.get(node.source);
    if (target) return unfold(target, path, state);
    state.findings.push(failed('yaml-alias', path, `there is no anchor &${node.source} before this alias`));
    return null;
  }
  if (isSeq(node)) {
    const values = node.items.map((item, index) => unfold(item as Node, [...path, index], state));
    return anchored(node, values, state);
  }
  if (isMap(node)) return anchored(node, unfoldMap(node, path, state), state);
  const value = isScalar(node) ? node.value : null;
  if (typeof value === 'string' && !isKept(value)) state.findings.push(unkept(path));
  return anchored(node, value, state);
}

/** YAML has escapes for what JSON bodies are refused for. */
function unkept(path: Path): Finding {
  return failed('yaml-character', path, unkeptDetail);
}

/** An anchor holds from the end of its node on, so that no alias can stand inside of what it names. */
function anchored<Value>(node: Node, value: Value, state: Unfolding): Value {
  if ('anchor' in node && typeof node.anchor === 'string') state.anchors.set(node.anchor, node);
  return value;
}

function unfoldMap(map: YAMLMap, path: Path, state: Unfolding): Record<string, unknown> {
  const entries = new Map<string, unknown>();
  for (const pair of map.items) {
    const keyNode = pair.key as Node | null;
    const named = isScalar(keyNode) ? keyNode.value : null;
    if (!keyNode || (typeof named !== 'string' && typeof named !== 'number' && typeof named !== 'boolean')) {
      state.findings.push(failed('yaml-key', path, 'a key must be plain text'));
      continue;
    }
    const key = String(named);
    const child = [...path, key];
    if (entries.has(key))
      state.findings.push(failed('yaml-duplicate-key', child, `the key ${key} stands twice`));
    if (keyNode.range) state.offsets.set(JSON.stringify(child), keyNode.range[0]);
    if (!isKept(key)) state.findings.push(unkept(child));
    entries.set(key, unfold(pair.value as Node | null, child, state));
  }
  return Object.fromEntries(entries);
}

function placeOf(
  path: Path,
  offsets: Map<string, number>,
  lines: LineCounter,
): { line: number; column: number } {
  for (let length = path.length; length >= 0; length--) {
    const offset = offsets.get(JSON.stringify(path.slice(0, length)));
    if (offset === undefined) continue;
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  }
  return { line: 1, column: 1 };
}
