import { writeError, type WriteError } from '../errors.ts';
import type { Field } from '../schema/fields.ts';
import { childRelationships, type SObject } from '../schema/object-types.ts';
import { getRow, lookup, type Row, type Store } from './store.ts';

type Found = { object: SObject; id: string; row: Row };

/** What a delete takes along and which lookups it empties, or why it may not happen. */
export type Removal =
  | { ok: true; rows: Found[]; cleared: (Found & { field: Field })[] }
  | { ok: false; error: WriteError };

/** Follows every lookup to the record: some children go with it, some lose the lookup, some forbid it. */
export function planRemoval(store: Store, object: SObject, id: string, row: Row): Removal {
  const rows: Found[] = [{ object, id, row }];
  const going = new Set([id]);
  const cleared: (Found & { field: Field })[] = [];
  // The list grows while it is read: children of children follow.
  for (const one of rows) {
    for (const { child, field } of childRelationships(store.schema, one.object)) {
      const children = childrenOf(store, child, field, one.id).filter((found) => !going.has(found.id));
      const error = forbidden(one, field, children);
      if (error) return { ok: false, error };
      if (field.onDelete !== 'cascade') {
        cleared.push(...children.map((found) => ({ ...found, field })));
        continue;
      }
      for (const found of children) going.add(found.id);
      rows.push(...children);
    }
  }
  return { ok: true, rows, cleared: cleared.filter((one) => !going.has(one.id)) };
}

function childrenOf(store: Store, object: SObject, field: Field, parentId: string): Found[] {
  return lookup(store, object, field, parentId).flatMap((id) => {
    const row = getRow(store, object, id);
    return row ? [{ object, id, row }] : [];
  });
}

/** A record with cases is not deleted, nor an account with opportunities that were won. */
function forbidden(parent: Found, field: Field, children: Found[]): WriteError | undefined {
  const name = String(parent.row['Name'] ?? parent.id);
  const refuse = (why: string, found: Found[], column: string): WriteError =>
    writeError(
      'DELETE_FAILED',
      `Your attempt to delete ${name} could not be completed because ${why}: ${found.map((one) => String(one.row[column])).join(', ')}\n`,
    );
  if (field.onDelete === 'restrict' && children.length > 0)
    return refuse('it is associated with the following cases.', children, 'CaseNumber');
  const won = parent.object.name === 'Account' ? children.filter((one) => one.row['IsWon'] === true) : [];
  if (won.length === 0) return undefined;
  return refuse(
    'some opportunities in that account were closed won. The following opportunities are closed won.',
    won,
    'Name',
  );
}
