import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MessageEntry } from '../../deliveries/index.ts';
import { timeTextOf, type ReadRecord } from '../../providers/index.ts';
import type { Shape } from './shape.ts';

const hashBytes = 12;

/** What earlier runs delivered, by the hash of id and version, and of the fields where a version may stand for two changes. */
export type Seen = ReadonlySet<string>;

export function seenIn(hashes: readonly Buffer[]): Seen {
  const seen = new Set<string>();
  for (const some of hashes)
    for (let at = 0; at + hashBytes <= some.length; at += hashBytes)
      seen.add(some.toString('latin1', at, at + hashBytes));
  return seen;
}

export interface Page {
  entries: MessageEntry[];
  hashes: Buffer;
}

/** So many records hold the event loop for a few milliseconds, however many fields they have. */
const recordsPerTurn = 50;

/** The same as {@link entriesOf}, with room for others between the records of a large page. */
export async function entriesInTurns(records: readonly ReadRecord[], choice: Choice): Promise<Page> {
  const parts: Page[] = [];
  for (let at = 0; at < records.length; at += recordsPerTurn) {
    if (at > 0) await nextTurn();
    parts.push(entriesOf(records.slice(at, at + recordsPerTurn), choice));
  }
  return {
    entries: parts.flatMap(({ entries }) => entries),
    hashes: Buffer.concat(parts.map(({ hashes }) => hashes)),
  };
}

interface Choice {
  shape: Shape;
  /** The records are deleted ones. */
  deleted: boolean;
  seen: Seen;
  repeatedFrom: number | undefined;
  /** What else a record is delivered with. */
  also?: ((id: string) => Record<string, unknown>) | undefined;
}

/** The entries of a page, without what was delivered before, and the hashes of what the next run will find again. Pure. */
export function entriesOf(
  records: readonly ReadRecord[],
  { shape, deleted, seen, repeatedFrom, also }: Choice,
): Page {
  const entries: MessageEntry[] = [];
  const repeated: Buffer[] = [];
  for (const record of records) {
    const at = Date.parse(record.version);
    // Where the provider tells no time of change, nothing says whether the next run finds it again.
    const isRepeated = repeatedFrom !== undefined && at > repeatedFrom;
    const hash = isRepeated || seen.size > 0 ? hashOf(record, at, deleted) : undefined;
    if (hash && isRepeated) repeated.push(hash);
    if (hash && seen.has(hash.toString('latin1'))) continue;
    entries.push({ json: jsonOf(record, shape, deleted, also), key: keyOf(record, at, deleted) });
  }
  return { entries, hashes: Buffer.concat(repeated) };
}

function jsonOf(record: ReadRecord, shape: Shape, deleted: boolean, also: Choice['also']): string {
  if (deleted) return JSON.stringify({ id: record.id, deleted: true, raw: record.raw });
  const entry = shape.entryOf(record);
  return JSON.stringify(also ? { ...entry, ...also(record.id) } : entry);
}

/** Times of one form, so that of two the later one is the greater text; versions that are no time say nothing of their order. */
function keyOf({ id, version }: ReadRecord, at: number, deleted: boolean): MessageEntry['key'] {
  return { id, version: Number.isNaN(at) ? '' : timeTextOf(at, version), deleted };
}

/** Salesforce tells whole seconds, in which a record may change again after it was read: two such changes differ by what they left. */
function hashOf({ id, version, fields }: ReadRecord, at: number, deleted: boolean): Buffer {
  const text = JSON.stringify([id, version, deleted, ...(at % 1_000 === 0 ? [fields] : [])]);
  return createHash('sha256').update(text).digest().subarray(0, hashBytes);
}
