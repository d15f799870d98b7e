import { createHash } from 'node:crypto';
import { escapeIdentifier } from 'pg';
import { fixedColumns } from './frame.ts';
import { longestName } from './schema.ts';

const hashDigits = 10;
/** What a changed name ends with. A name that ends so by itself is changed, too: two names never become one. */
const changedEnd = new RegExp(`_x[0-9a-f]{${hashDigits}}$`);
/** Columns that every table has, and those of PostgreSQL itself. */
const systemColumns = ['tableoid', 'xmin', 'cmin', 'xmax', 'cmax', 'ctid'];
const taken = new Set([...Object.keys(fixedColumns), ...systemColumns]);

/** The name of the table of an object. */
export function tableName(prefix: string, object: string): string {
  return fitting(prefix + object);
}

/** The name of the column of a mapped field. */
export function columnName(field: string): string {
  return taken.has(field) || field.startsWith('_svc_') ? changed(field) : fitting(field);
}

export function qualified(schema: string, table: string): string {
  return `${escapeIdentifier(schema)}.${escapeIdentifier(table)}`;
}

function fitting(name: string): string {
  const fits = name !== '' && Buffer.byteLength(name) <= longestName && name.isWellFormed();
  return fits && !name.includes('\0') && !changedEnd.test(name) ? name : changed(name);
}

function changed(name: string): string {
  const hash = createHash('sha256').update(JSON.stringify(name)).digest('hex').slice(0, hashDigits);
  const room = longestName - hashDigits - '_x'.length;
  return `${cut(name.toWellFormed().replaceAll('\0', '_'), room)}_x${hash}`;
}

/** So many bytes at the most, and no part of a character. */
function cut(name: string, bytes: number): string {
  let kept = '';
  let size = 0;
  for (const character of name) {
    size += Buffer.byteLength(character);
    if (size > bytes) break;
    kept += character;
  }
  return kept;
}
