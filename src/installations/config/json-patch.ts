import { Draft } from '../../kit/draft.ts';
import { isExactNumber } from '../../kit/json.ts';
import type { Issue } from '../../kit/problem.ts';

/** One change of RFC 6902: add, replace or remove (§4.5). */
export interface Change {
  op: 'add' | 'remove' | 'replace';
  path: string;
  value?: unknown;
}

/** A change with the reference tokens of its path. */
interface Edit {
  op: Change['op'];
  value: unknown;
  keys: readonly string[];
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
  const draft = new Draft();
  let current = document;
  for (const [index, change] of changes.entries()) {
    const at = `changes[${index}]`;
    if (change.op !== 'remove' && change.value === undefined) {
      return { issues: [{ in: 'body', name: `${at}.value`, detail: `is required for "${change.op}"` }] };
    }
    const pointer = parsePointer(change.path);
    const outcome =
      'fault' in pointer
        ? pointer
        : edit(draft, current, 0, { op: change.op, value: change.value, keys: pointer.keys });
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

/** The node after the change, which stands `level` tokens below the document. */
function edit(draft: Draft, node: unknown, level: number, change: Edit): Outcome {
  const key = change.keys[level];
  if (key === undefined) return { value: change.op === 'remove' ? undefined : change.value };
  if (Array.isArray(node)) return editArray(draft, node, level, change);
  if (typeof node !== 'object' || node === null || isExactNumber(node)) {
    return { fault: `there is nothing at "${key}": its parent is neither an object nor an array` };
  }
  return editObject(draft, node as Record<string, unknown>, level, change);
}

function editObject(draft: Draft, node: Record<string, unknown>, level: number, change: Edit): Outcome {
  const key = change.keys[level] ?? '';
  const isLast = level === change.keys.length - 1;
  const isNew = !Object.hasOwn(node, key);
  if (isNew && (!isLast || change.op !== 'add')) return { fault: `there is nothing at "${key}"` };
  const inner = edit(draft, node[key], level + 1, change);
  if ('fault' in inner) return inner;
  const copy = draft.own(node);
  if (isLast && change.op === 'remove') Reflect.deleteProperty(copy, key);
  else copy[key] = inner.value;
  return { value: copy };
}

function editArray(draft: Draft, node: unknown[], level: number, change: Edit): Outcome {
  const key = change.keys[level] ?? '';
  const isLast = level === change.keys.length - 1;
  const inserts = isLast && change.op === 'add';
  const index = key === '-' && inserts ? node.length : indexOf(key);
  if (index === undefined) return { fault: `"${key}" is not an index of the array` };
  if (index > node.length || (index === node.length && !inserts)) {
    return { fault: `the array has no index ${key}; its length is ${node.length}` };
  }
  const inner = inserts ? { value: change.value } : edit(draft, node[index], level + 1, change);
  if ('fault' in inner) return inner;
  const copy = draft.own(node);
  if (inserts) copy.splice(index, 0, inner.value);
  else if (isLast && change.op === 'remove') copy.splice(index, 1);
  else copy[index] = inner.value;
  return { value: copy };
}

function indexOf(key: string): number | undefined {
  return /^(0|[1-9]\d*)$/.test(key) ? Number(key) : undefined;
}
