import type { Row, Value } from '../store/store.ts';
import type { Ordering } from './ast.ts';
import { resolvePath, type Scope } from './paths.ts';
import { malformed } from './problems.ts';

export type Compare = (a: Row, b: Row) => number;

/** Turns ORDER BY into a comparison; nulls come first unless asked otherwise. Null when rows stay as they are. */
export function compileOrder(scope: Scope, order: Ordering[]): Compare | null {
  const byId = order.length === 1 && order[0]?.path.names.join('.').toLowerCase() === 'id';
  const keys = order.map((one) => compileKey(scope, one));
  if (keys.length === 0 || (byId && order[0]?.descending === false)) return null;
  return (a, b) => {
    for (const key of keys) {
      const result = key(a, b);
      if (result !== 0) return result;
    }
    return 0;
  };
}

function compileKey(scope: Scope, { path, descending, nullsLast }: Ordering): Compare {
  const { field, get } = resolvePath(scope, path);
  const long = field.type === 'textarea' && field.length > 255;
  if (long || field.type === 'address' || field.type === 'multipicklist') {
    throw malformed(scope.soql, path.pos, `field '${field.name}' can not be sorted in a query call`);
  }
  const sign = descending ? -1 : 1;
  const caseless = field.type !== 'id' && field.type !== 'reference';
  const keyOf = (value: Value): Value =>
    caseless && typeof value === 'string' ? value.toLowerCase() : value;
  return (a, b) => {
    const x = keyOf(get(a));
    const y = keyOf(get(b));
    if (x === y) return 0;
    if (x === null) return nullsLast ? 1 : -1;
    if (y === null) return nullsLast ? -1 : 1;
    return x < y ? -sign : sign;
  };
}
