import type { Queryable } from '../kit/db/database.ts';
import { decode } from './encoding.ts';
import type { MessageObject, OutgoingMessage, RecordKey } from './kind.ts';
import { recordKeysIn } from './messages.ts';
import { loadStoredResult, type MessageRow } from './store/load.ts';

interface Sent {
  id: string;
  projectId: string;
  attempt: number;
}

/** What the records of an object may have in `mappedFields` now. */
export type MappedFields = (of: MessageObject) => Promise<readonly string[]>;

interface Deps {
  ground: { database: Queryable };
  mappedFields: MappedFields;
}

/** A stored message for its destination; its large parts are opened when they are asked for. */
export function outgoingOf(
  { ground: { database }, mappedFields }: Deps,
  { id, projectId, attempt }: Sent,
  row: MessageRow,
): OutgoingMessage {
  let keys: RecordKey[] | undefined;
  const object = {
    projectId,
    installationId: row.installation_id ?? '',
    object: row.object ?? '',
  };
  const body = (): Promise<Buffer> => decode(row.body, row.encoding);
  return {
    ...object,
    id,
    attempt,
    seq: row.seq,
    groupRef: row.group_ref ?? '',
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
      const stored = await loadStoredResult(database, projectId, id);
      if (!stored) throw new Error(`the message ${id} is no longer kept`);
      return decode(stored.result, stored.encoding);
    },
    // While they are not known, a table waits for the record that has them.
    mappedFields: () => mappedFields(object).catch(() => []),
    replay: row.replay,
  };
}

const resultAt = Buffer.from(',"result":');

/** A quote in a text is escaped, so the first of these is the member; it is the last one of the body. */
function resultIn(body: Buffer): Buffer {
  return body.subarray(body.indexOf(resultAt) + resultAt.length, body.length - 1);
}
