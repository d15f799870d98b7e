import { Readable } from 'node:stream';
import type { Database } from '../../kit/db/database.ts';
import { beforeIdOf } from '../../kit/paging.ts';
import { presentAuditEntry } from './present.ts';
import type { AuditEntry, AuditExportQuery } from './schema.ts';
import { listAuditEntries } from './store.ts';

/** So many entries are in memory at once. */
const pageSize = 500;

/** All entries of a project within the query, newest first, read as they are taken. */
export function exportAuditLog(
  db: Database,
  projectId: string,
  { format, ...filter }: AuditExportQuery,
): Readable {
  const write = format === 'csv' ? csvLine : ndjsonLine;
  async function* lines(): AsyncGenerator<string> {
    if (format === 'csv') yield `${columns.join(',')}\r\n`;
    let before = beforeIdOf(undefined);
    for (;;) {
      const rows = await listAuditEntries(db, projectId, { ...filter, before, limit: pageSize });
      if (rows.length > 0) yield rows.map((row) => write(presentAuditEntry(row))).join('');
      if (rows.length < pageSize) return;
      before = rows.at(-1)?.id ?? before;
    }
  }
  // Text is counted as bytes, so that the next page waits until this one was taken.
  return Readable.from(lines(), { objectMode: false });
}

const ndjsonLine = (entry: AuditEntry): string => `${JSON.stringify(entry)}\n`;

const columns = [
  'id',
  'time',
  'action',
  'targetType',
  'targetId',
  'actorKind',
  'keyId',
  'groupRef',
  'consumerRef',
  'personId',
  'email',
  'address',
  'requestId',
  'details',
] as const;

function csvLine({ target, actor, details, ...rest }: AuditEntry): string {
  const { kind, ...who } = actor;
  const values: Partial<Record<(typeof columns)[number], string>> = {
    ...rest,
    ...who,
    targetType: target.type,
    targetId: target.id,
    actorKind: kind,
    ...(details === undefined ? {} : { details: JSON.stringify(details) }),
  };
  return `${columns.map((name) => csvCell(values[name] ?? '')).join(',')}\r\n`;
}

/** A spreadsheet takes some beginnings for a formula; an apostrophe before them keeps it text. */
function csvCell(text: string): string {
  const safe = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
