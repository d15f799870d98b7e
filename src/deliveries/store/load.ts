import type { EventType } from '../../events/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';
import type { Marked } from '../../lanes/index.ts';

const columns = `m.seq, m.installation_id, m.group_ref, m.object, m.event_type, m.destination_id, m.records, m.encoding, m.body,
  m.result IS NOT NULL AS links, m.keys::text AS keys, m.created_at`;

// LIMIT keeps each look-up apart, so that no plan reads all of a partition that was empty once.
const load = statement(
  'messages_load',
  `SELECT i.n::int AS n, ${columns}, coalesce(d.ended = 'delivered' OR d.replay_id IS NOT NULL, false) AS replay,
    EXISTS (SELECT FROM replay r WHERE r.project_id = i.project_id AND r.id = d.replay_id AND r.status = 'canceled') AS replay_canceled
  FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) WITH ORDINALITY AS i(project_id, id, lane_id, n)
  CROSS JOIN LATERAL (SELECT * FROM message m WHERE m.project_id = i.project_id AND m.id = i.id LIMIT 1) m
  LEFT JOIN LATERAL (
    SELECT ended, replay_id FROM delivery d
    WHERE d.project_id = i.project_id AND d.message_id = i.id AND d.destination_id = i.lane_id LIMIT 1) d ON true`,
);
const loadResult = statement(
  'message_result',
  'SELECT result, encoding FROM message WHERE project_id = $1 AND id = $2',
);

/** A message as it is stored. */
export interface MessageRow {
  seq: string;
  /** Null where a notification concerns none. */
  installation_id: string | null;
  group_ref: string | null;
  object: string | null;
  /** Null for records. */
  event_type: EventType | null;
  destination_id: string;
  records: number;
  encoding: number;
  body: Buffer;
  /** The records are apart. */
  links: boolean;
  keys: string;
  created_at: Date;
  /** It was delivered there before, or a replay sends it there. */
  replay: boolean;
  /** That replay was canceled while an attempt was on its way. */
  replay_canceled: boolean;
}

/** The messages of marked rows, by the places of these; what is no longer kept is missing. */
export async function loadMessages(
  db: Queryable,
  marked: readonly Marked[],
): Promise<Map<number, MessageRow>> {
  const rows = await db.rows<MessageRow & { n: number }>(load, [
    marked.map(({ projectId }) => projectId),
    marked.map(({ ref }) => ref),
    marked.map(({ laneId }) => laneId),
  ]);
  return new Map(rows.map(({ n, ...row }) => [n - 1, row]));
}

/** The records of a message that only links to them, as they are stored. */
export async function loadStoredResult(
  db: Queryable,
  projectId: string,
  id: string,
): Promise<{ result: Buffer; encoding: number } | undefined> {
  const [row] = await db.rows<{ result: Buffer | null; encoding: number }>(loadResult, [projectId, id]);
  return row?.result ? { result: row.result, encoding: row.encoding } : undefined;
}
