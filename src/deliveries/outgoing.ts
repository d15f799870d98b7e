import type { Queryable } from '../kit/db/database.ts';
import { decode } from './encoding.ts';
import type { OutgoingMessage, RecordKey } from './kind.ts';
import { recordKeysIn } from './messages.ts';
import { loadStoredResult, type MessageRow } from './store/load.ts';

interface Sent {
  id: string;
  projectId: string;
  attempt: number;
}

/** A stored message for its destination; its large parts are opened when they are asked for. */
export function outgoingOf(
  db: Queryable,
  { id, projectId, attempt }: Sent,
  row: MessageRow,
): OutgoingMessage {
  let keys: RecordKey[] | undefined;
  const body = (): Promise<Buffer> => decode(row.body, row.encoding);
  return {
    id,
    projectId,
    attempt,
    seq: row.seq,
    installationId: row.installation_id ?? '',
    groupRef: row.group_ref ?? '',
    object: row.object ?? '',
    ...(row.event_type === null ? {} : { notificationType: row.event_type }),
    createdAt: row.created_at,
    records: row.records,
    get keys() {
      keys ??= recordKeysIn(row.keys);
      return keys;
    },
    body,
    async result() {
      if (!row.links) return resultIn(await body());
      const stored = await loadStoredResult(db, projectId, id);
      if (!stored) throw new Error(`the message ${id} is no longer kept`);
      return decode(stored.result, stored.encoding);
    },
    replay: row.replay,
  };
}

const resultAt = Buffer.from(',"result":');

/** A quote in a text is escaped, so the first of these is the member; it is the last one of the body. */
function resultIn(body: Buffer): Buffer {
  return body.subarray(body.indexOf(resultAt) + resultAt.length, body.length - 1);
}
