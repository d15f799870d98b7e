import { beginsWith, branch, searchKey, type Found, type Reach, type Sought } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import { formsOfId } from '../providers/index.ts';

const byId = statement(
  'deliveries_find_any',
  `${branch(`SELECT 'delivery' AS type, id::text, coalesce(object, event_type) AS name, group_ref AS "groupRef",
     installation_id::text AS "installationId", operation_id::text AS "operationId"
   FROM message WHERE project_id = $1 AND id BETWEEN $2 AND $3 AND id >= svc_kept_from($1, 'messages')
     AND ($4::text IS NULL OR group_ref = $4)`)}
   UNION ALL ${branch(`SELECT 'destination', id::text, name, NULL, NULL, NULL FROM destination
   WHERE $4::text IS NULL AND project_id = $1 AND id BETWEEN $2 AND $3`)}
   UNION ALL ${branch(`SELECT 'topic', id::text, name, NULL, NULL, NULL FROM topic
   WHERE $4::text IS NULL AND project_id = $1 AND id BETWEEN $2 AND $3`)}
   UNION ALL ${branch(`SELECT 'replay', id::text, status, NULL, NULL, NULL FROM replay
   WHERE $4::text IS NULL AND project_id = $1 AND id BETWEEN $2 AND $3`)}`,
);

/**
 * The newest that carry a record. What else could be looked up by an index is hidden from it, or looked at afterwards: all messages
 * would be walked by it.
 */
const byRecord = statement(
  'deliveries_find_by_record',
  `WITH carrying AS MATERIALIZED (
     SELECT project_id, id, object, group_ref, installation_id, operation_id FROM message
     WHERE svc_carried_hashes(project_id, keys) && ARRAY (SELECT svc_carried_hash($1, id) FROM unnest($3::text[]) id)
       AND coalesce(id >= (SELECT svc_messages_indexed_from()), true))
   ${branch(`SELECT 'delivery' AS type, id::text, object || ' ' || $2::text AS name, group_ref AS "groupRef",
     installation_id::text AS "installationId", operation_id::text AS "operationId"
   FROM carrying WHERE project_id = $1 AND id >= svc_kept_from($1, 'messages') AND ($4::text IS NULL OR group_ref = $4)
   ORDER BY id DESC`)}`,
);

const byName = statement(
  'deliveries_find_named',
  `${branch(`SELECT 'destination' AS type, id::text, name FROM destination
   WHERE ${beginsWith('name', '$2')} ORDER BY ${searchKey('name')}`)}
   UNION ALL ${branch(`SELECT 'topic', id::text, name FROM topic
   WHERE ${beginsWith('name', '$2')} ORDER BY ${searchKey('name')}`)}`,
);

/** Deliveries by the ids of their messages, and by the provider's ids of the records that they carry; and over all groups destinations, topics and replays. */
export async function findDeliveries(
  db: Queryable,
  { projectId, groupRef }: Reach,
  { range, text }: Sought,
): Promise<Found[]> {
  const group = groupRef ?? null;
  const lists = await Promise.all([
    range ? db.rows<Found>(byId, [projectId, range.from, range.to, group]) : [],
    db.rows<Found>(byRecord, [projectId, text, formsOfId(text), group]),
    groupRef === undefined ? db.rows<Found>(byName, [projectId, text]) : [],
  ]);
  return lists.flat();
}

const ended = statement(
  'deliveries_count_ended',
  `SELECT count(*)::int AS count FROM (
     SELECT FROM delivery WHERE project_id = $1 AND message_id >= svc_kept_from($1, 'messages')
       AND status IN ('failed', 'canceled') AND status = 'failed' LIMIT $2) d`,
);

/** Deliveries that ran out of attempts; counted to a bound. */
export async function countDead(db: Queryable, projectId: string, most: number): Promise<number> {
  const [row] = await db.rows<{ count: number }>(ended, [projectId, most]);
  return row?.count ?? 0;
}
