import type { Field } from '../schema/fields.ts';
import { readOnlyField } from '../schema/fields.ts';
import { findField, findObject, type SObject } from '../schema/object-types.ts';
import { findLive, type Row, type Store, type Value } from '../store/store.ts';
import type { Path } from './ast.ts';
import { noColumn, noRelationship } from './problems.ts';

/** What a query is read against. */
export type Scope = {
  store: Store;
  object: SObject;
  alias: string | null;
  soql: string;
  now: number;
  /** True for queryAll: the recycle bin counts too. */
  deleted: boolean;
  /** What sharing keeps from the user whose query it is. */
  isHidden: (object: SObject, row: Row) => boolean;
};

/** A path found in the schema: the lookups to follow and the field at the end. */
export type Resolved = { parents: Field[]; field: Field; get: (row: Row) => Value };

/** Follows a path from the scope's object; throws INVALID_FIELD at the first name not known. */
export function resolvePath(scope: Scope, path: Path): Resolved {
  const names = withoutAlias(scope, path.names);
  const last = names.at(-1) ?? '';
  let objects = [scope.object];
  const parents: Field[] = [];
  for (const name of names.slice(0, -1)) {
    const f = objects
      .map((o) => o.byRelationship.get(name.toLowerCase()))
      .find((found) => found !== undefined);
    if (!f) throw noRelationship(scope.soql, path.pos, name);
    parents.push(f);
    objects = f.referenceTo.map((to) => findObject(scope.store.schema, to)).filter((o) => o !== undefined);
  }
  const field =
    objects.map((o) => findField(o, last)).find((f) => f !== undefined) ?? typeField(parents, last);
  if (!field) throw noColumn(scope.soql, path.pos, last, objects[0]?.name ?? '');
  return { parents, field, get: getter(scope.store, parents, field) };
}

function withoutAlias(scope: Scope, names: string[]): string[] {
  const first = names[0]?.toLowerCase();
  const own = first === scope.alias?.toLowerCase() || first === scope.object.name.toLowerCase();
  const parent = scope.object.byRelationship.has(first ?? '');
  return names.length > 1 && own && !parent ? names.slice(1) : names;
}

/** Parents that may be of several types have a `Type` column that names it. */
function typeField(parents: Field[], name: string): Field | undefined {
  const polymorphic = (parents.at(-1)?.referenceTo.length ?? 0) > 1;
  return polymorphic && name.toLowerCase() === 'type' ? readOnlyField('Type', 'picklist') : undefined;
}

function getter(store: Store, parents: Field[], field: Field): (row: Row) => Value {
  if (parents.length === 0) return (row) => valueOf(row, field);
  return (row) => {
    let at: Row | undefined = row;
    let name = '';
    for (const parent of parents) {
      const found: ReturnType<typeof parentOf> = at ? parentOf(store, at, parent) : undefined;
      at = found?.row;
      name = found?.object.name ?? '';
    }
    if (!at) return null;
    return field.name === 'Type' && !(field.name in at) && (parents.at(-1)?.referenceTo.length ?? 0) > 1
      ? name
      : valueOf(at, field);
  };
}

/** The live record a lookup points to. */
export function parentOf(store: Store, row: Row, f: Field): { object: SObject; row: Row } | undefined {
  const id = row[f.name];
  return typeof id === 'string' ? findLive(store, id) : undefined;
}

/** A stored value; a boolean is never null. */
export function valueOf(row: Row, f: Field): Value {
  return row[f.name] ?? (f.type === 'boolean' ? false : null);
}
