import type { Row, Value } from '../store/store.ts';
import { placeOf, type Ordering } from './ast.ts';
import { resolveExpression, type Resolve } from './functions.ts';
import type { Scope } from './paths.ts';
import { malformed } from './problems.ts';

export type Compare = (a: Row, b: Row) => number;

/** Turns ORDER BY into a comparison; nulls come first unless asked otherwise. Null when rows stay as they are. */
export function compileOrder(
  scope: Scope,
  order: Ordering[],
  resolve: Resolve = resolveExpression,
): Compare | null {
  const [first] = order;
  const byId =
    order.length === 1 && first?.by.kind === 'path' && first.by.path.names.join('.').toLowerCase() === 'id';
  const keys = order.map((one) => compileKey(scope, one, resolve));
  if (keys.length === 0 || (byId && !first.descending)) return null;
  return (a, b) => {
    for (const key of keys) {
      const result = key(a, b);
      if (result !== 0) return result;
    }
    return 0;
  };
}

function compileKey(scope: Scope, { by, descending, nullsLast }: Ordering, resolve: Resolve): Compare {
  const { field, get } = resolve(scope, by);
  const long = field.type === 'textarea' && field.length > 255;
  if (long || field.type === 'address' || field.type === 'multipicklist') {
    throw malformed(scope.soql, placeOf(by), `field '${field.name}' can not be sorted in a query call`);
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
