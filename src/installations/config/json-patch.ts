import { isExactNumber } from '../../kit/json.ts';
import type { Issue } from '../../kit/problem.ts';

/** One change of RFC 6902: the operations that the specification's 4.5 and product-api 1.5 name. */
export interface Change {
  op: 'add' | 'remove' | 'replace';
  path: string;
  value?: unknown;
}

interface Edit {
  op: Change['op'];
  value: unknown;
}
type Outcome = { value: unknown } | { fault: string };

/**
 * Applies the changes one after another to a copy; the document itself stays. The first that does not fit ends it,
 * since those after it build on it. An undefined value means that the whole document was removed.
 */
export function applyChanges(
  document: unknown,
  changes: readonly Change[],
): { value: unknown } | { issues: Issue[] } {
  let current = document;
  for (const [index, change] of changes.entries()) {
    const at = `changes[${index}]`;
    if (change.op !== 'remove' && change.value === undefined) {
      return { issues: [{ in: 'body', name: `${at}.value`, detail: `is required for "${change.op}"` }] };
    }
    const pointer = parsePointer(change.path);
    const outcome =
      'fault' in pointer ? pointer : edit(current, pointer.keys, { op: change.op, value: change.value });
    if ('fault' in outcome) {
      return { issues: [{ in: 'body', name: `${at}.path`, detail: outcome.fault, value: change.path }] };
    }
    current = outcome.value;
  }
  return { value: current };
}

/** The reference tokens of a JSON Pointer (RFC 6901). */
function parsePointer(path: string): { keys: string[] } | { fault: string } {
  if (path === '') return { keys: [] };
  if (!path.startsWith('/')) return { fault: 'must be empty or start with "/"' };
  if (/~(?![01])/.test(path)) return { fault: 'has a "~" that is neither "~0" nor "~1"' };
  const keys = path
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.includes('__proto__') ? { fault: 'the key "__proto__" is not accepted' } : { keys };
}

function edit(node: unknown, keys: readonly string[], change: Edit): Outcome {
  const [key, ...rest] = keys;
  if (key === undefined) return { value: change.op === 'remove' ? undefined : change.value };
  if (Array.isArray(node)) return editArray(node, key, rest, change);
  if (typeof node !== 'object' || node === null || isExactNumber(node)) {
    return { fault: `there is nothing at "${key}": its parent is neither an object nor an array` };
  }
  return editObject(node as Record<string, unknown>, key, rest, change);
}

function editObject(
  node: Record<string, unknown>,
  key: string,
  rest: readonly string[],
  change: Edit,
): Outcome {
  const isNew = !Object.hasOwn(node, key);
  if (isNew && (rest.length > 0 || change.op !== 'add')) return { fault: `there is nothing at "${key}"` };
  if (rest.length === 0 && change.op === 'remove') {
    const { [key]: _removed, ...others } = node;
    return { value: others };
  }
  const inner = edit(node[key], rest, change);
  return 'fault' in inner ? inner : { value: { ...node, [key]: inner.value } };
}

function editArray(node: readonly unknown[], key: string, rest: readonly string[], change: Edit): Outcome {
  const inserts = rest.length === 0 && change.op === 'add';
  if (key === '-' && inserts) return { value: [...node, change.value] };
  if (!/^(0|[1-9]\d*)$/.test(key)) return { fault: `"${key}" is not an index of the array` };
  const index = Number(key);
  if (index > node.length || (index === node.length && !inserts)) {
    return { fault: `the array has no index ${key}; its length is ${node.length}` };
  }
  if (inserts) return { value: node.toSpliced(index, 0, change.value) };
  if (rest.length === 0 && change.op === 'remove') return { value: node.toSpliced(index, 1) };
  const inner = edit(node[index], rest, change);
  return 'fault' in inner ? inner : { value: node.with(index, inner.value) };
}
