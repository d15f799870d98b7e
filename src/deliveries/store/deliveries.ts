import type { EventType, Reach } from '../../events/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import { statement, type Statement } from '../../kit/db/statement.ts';
import { woken } from '../../lanes/index.ts';
import type { DeliveryStatus } from '../schema.ts';
import type { AttemptEntry } from '../settle.ts';
import { deadline } from './messages.ts';

export interface DeliveryRow {
  id: string;
  destination_id: string;
  installation_id: string | null;
  group_ref: string | null;
  object: string | null;
  event_type: EventType | null;
  operation_id: string | null;
  records: number;
  bytes: number;
  created_at: Date;
  status: DeliveryStatus;
  attempts: number;
  http_status: number | null;
  error: string | null;
  last_at: Date | null;
  next_at: Date | null;
}

/** Without a row of its own a delivery waits for its first attempt; for a destination that is gone none is made. */
const columnsAt = (
  destination: string,
): string => `m.id, ${destination} AS destination_id, m.installation_id, m.group_ref, m.object, m.event_type, m.operation_id, m.records, m.bytes, m.created_at,
  CASE WHEN coalesce(d.status, 'pending') <> 'pending' THEN d.status
    WHEN EXISTS (SELECT FROM destination t WHERE t.project_id = m.project_id AND t.id = ${destination}) THEN 'pending'
    ELSE 'canceled' END AS status,
  coalesce(d.attempts, 0) AS attempts, d.http_status, d.error, d.last_at, d.next_at`;

// LIMIT keeps each look-up apart, so that no plan reads all of a partition that was empty once.
const itsDeliveryAt = (destination: string): string => `LEFT JOIN LATERAL (
    SELECT * FROM delivery d WHERE d.project_id = m.project_id AND d.message_id = m.id AND d.destination_id = ${destination}
    LIMIT 1) d ON true`;
const own = 'm.destination_id';
const columns = columnsAt(own);
const itsDelivery = itsDeliveryAt(own);
const itsMessage = (of: string, id: string): string => `CROSS JOIN LATERAL (
    SELECT * FROM message m WHERE m.project_id = ${of}.project_id AND m.id = ${of}.${id} LIMIT 1) m`;

const within = (id: string): string =>
  `${id} < $2::uuid AND ${id} >= greatest($3::uuid, svc_kept_from($1, 'messages'))`;

/** The filter by destination. Without one, deliveries to the destination that a message was made for are listed. */
const ofDestination = (destination: string): string =>
  destination === own ? `($8::uuid IS NULL OR ${own} = $8)` : `${destination} = coalesce($8::uuid, ${own})`;

/**
 * A list walks one index by falling id; what is asked for besides is looked at row by row. A walk through messages has no order of
 * its own: PostgreSQL would plan it to its end, and sort all of them. The other walks are short, and are sorted before their messages
 * are looked for. What a replay sent to another destination than the message's own is listed for that destination alone, so that an
 * id stands once in a list.
 */
const listBy = (walk: string, id: string, destination = own): string => `SELECT ${columnsAt(destination)}
  FROM ${walk}
  WHERE ($5::text IS NULL OR m.group_ref = $5) AND ($6::text IS NULL OR m.group_ref = $6)
    AND ($7::text IS NULL OR $7 IN (m.object, m.raw_object)) AND ${ofDestination(destination)}
    AND ($9::uuid IS NULL OR m.installation_id = $9) AND ($10::uuid IS NULL OR m.operation_id = $10)
    AND ($11::text IS NULL OR coalesce(d.status, 'pending') = $11)
  ORDER BY ${id} DESC LIMIT $4`;

const messagesWhere = (condition: string): string => `(
    SELECT * FROM message m WHERE m.project_id = $1 AND ${condition} AND ${within('m.id')}) m ${itsDelivery}`;

const lists = {
  ofProject: statement('deliveries_of_project', listBy(messagesWhere('true'), 'm.id')),
  ofGroup: statement(
    'deliveries_of_group',
    listBy(messagesWhere('m.group_ref = coalesce($5::text, $6::text)'), 'm.id'),
  ),
  ofDestination: statement(
    'deliveries_of_destination',
    listBy(messagesWhere('m.destination_id = $8::uuid'), 'm.id'),
  ),
  ofInstallation: statement(
    'deliveries_of_installation',
    listBy(messagesWhere('m.installation_id = $9::uuid'), 'm.id'),
  ),
  ofObject: statement('deliveries_of_object', listBy(messagesWhere('m.object = $7::text'), 'm.id')),
  ofRawObject: statement(
    'deliveries_of_raw_object',
    listBy(messagesWhere('m.raw_object = $7::text'), 'm.id'),
  ),
  ofOperation: statement(
    'deliveries_of_operation',
    listBy(messagesWhere('m.operation_id = $10::uuid'), 'm.id'),
  ),
  /** Those that ended badly are few, and have an index. */
  ended: statement(
    'deliveries_ended',
    listBy(
      `(SELECT * FROM delivery d WHERE d.project_id = $1 AND d.status IN ('failed', 'canceled') AND d.status = $11
        AND ($8::uuid IS NULL OR d.destination_id = $8) AND ${within('d.message_id')} ORDER BY d.message_id DESC) d
      ${itsMessage('d', 'message_id')}`,
      'd.message_id',
      'd.destination_id',
    ),
  ),
  /** What waits is what there is work for. */
  pending: statement(
    'deliveries_pending',
    listBy(
      `(SELECT * FROM work w WHERE w.project_id = $1 AND w.kind = 'delivery' AND ($8::uuid IS NULL OR coalesce(w.home_id, w.lane_id) = $8)
        AND ${within('w.ref')} ORDER BY w.ref DESC) w
      ${itsMessage('w', 'ref')} ${itsDeliveryAt('coalesce(w.home_id, w.lane_id)')}`,
      'w.ref',
      'coalesce(w.home_id, w.lane_id)',
    ),
  ),
};

/** Nobody is shown the content that a project does not want kept, though it may still be there. */
const hasBody = `(octet_length(m.body) > 0 AND (d.status IS DISTINCT FROM 'delivered' OR svc_keeps(m.project_id, 'messages')))`;

const find = statement(
  'delivery_find',
  `SELECT ${columns}, coalesce(d.log, '[]') AS log, m.encoding, ${hasBody} AS has_body,
    CASE WHEN $4 AND ${hasBody} THEN m.body END AS body
  FROM (SELECT * FROM message m WHERE m.project_id = $1 AND m.id = $2 AND m.id >= svc_kept_from($1, 'messages') AND ($3::text IS NULL OR m.group_ref = $3) LIMIT 1) m
  ${itsDelivery}`,
);

const again = statement(
  'delivery_again',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  again AS (
    UPDATE delivery d SET status = 'pending', next_at = now FROM clock
    WHERE d.project_id = $1 AND d.message_id = $2 AND d.destination_id = $3 AND d.status IN ('failed', 'delivered')
    RETURNING d.project_id, d.message_id, d.destination_id),
  works AS (
    INSERT INTO work (project_id, ref, lane_id, kind, due_at, deadline)
    SELECT project_id, message_id, destination_id, 'delivery', now, now + ${deadline} FROM clock, again
    RETURNING project_id, lane_id, due_at),
  wakes AS (${woken('SELECT * FROM works')})
  SELECT message_id FROM again`,
);

// The first delivery of a message waits while it has no row. A replay may send it elsewhere.
const findLink = statement(
  'message_links',
  `SELECT i.n::int AS n, m.link_hash, coalesce(d.has_begun AND d.are_over, false) AS over
  FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS i(project_id, id, n)
  CROSS JOIN LATERAL (
    SELECT * FROM message m
    WHERE m.project_id = i.project_id AND m.id = i.id AND m.id >= svc_kept_from(i.project_id, 'messages')
      AND m.link_hash IS NOT NULL LIMIT 1) m
  CROSS JOIN LATERAL (
    SELECT bool_or(d.destination_id = m.destination_id) AS has_begun,
      bool_and(d.status <> 'pending' AND d.last_at < svc_now() - interval '15 minutes') AS are_over
    FROM delivery d WHERE d.project_id = m.project_id AND d.message_id = m.id) d`,
);

export interface DeliveryFilter {
  /** Both UUIDs: the first is left out, the second is not. */
  before: string;
  from: string;
  limit: number;
  destinationId?: string | undefined;
  installationId?: string | undefined;
  operationId?: string | undefined;
  status?: DeliveryStatus | undefined;
  object?: string | undefined;
  groupRef?: string | undefined;
}

/** Newest first. */
export async function listDeliveries(
  db: Queryable,
  reach: Reach,
  filter: DeliveryFilter,
): Promise<DeliveryRow[]> {
  const values = [
    reach.projectId,
    filter.before,
    filter.from,
    filter.limit,
    reach.groupRef ?? null,
    filter.groupRef ?? null,
    filter.object ?? null,
    filter.destinationId ?? null,
    filter.installationId ?? null,
    filter.operationId ?? null,
  ];
  const walks = walksFor(reach, filter).map(({ walk, status = filter.status ?? null }) =>
    db.rows<DeliveryRow>(walk, [...values, status]),
  );
  const found = new Map((await Promise.all(walks)).flat().map((row) => [row.id, row]));
  return [...found.values()].toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, filter.limit);
}

interface WalkOfStatus {
  walk: Statement;
  /** Another one than is asked for. */
  status?: DeliveryStatus;
}

/** What they find together is the list. */
function walksFor(
  reach: Reach,
  { operationId, status, installationId, destinationId, object, groupRef = reach.groupRef }: DeliveryFilter,
): readonly WalkOfStatus[] {
  if (operationId !== undefined) return [{ walk: lists.ofOperation }];
  if (status === 'failed' || status === 'canceled') return [{ walk: lists.ended }];
  if (status === 'pending') return [{ walk: lists.pending }];
  if (installationId !== undefined) return [{ walk: lists.ofInstallation }];
  if (groupRef !== undefined) return [{ walk: lists.ofGroup }];
  if (destinationId !== undefined)
    return status === 'delivered' ? [{ walk: lists.ofDestination }] : walksOfDestination;
  return object === undefined
    ? [{ walk: lists.ofProject }]
    : [{ walk: lists.ofObject }, { walk: lists.ofRawObject }];
}

/** What was made for it, and what a replay sent there and that waits or did not arrive. */
const walksOfDestination: readonly WalkOfStatus[] = [
  { walk: lists.ofDestination },
  { walk: lists.pending, status: 'pending' },
  { walk: lists.ended, status: 'failed' },
  { walk: lists.ended, status: 'canceled' },
];

export interface DeliveryDetailRow extends DeliveryRow {
  log: AttemptEntry[];
  encoding: number;
  /** Its content is still kept. */
  has_body: boolean;
  /** If asked for, and kept. */
  body: Buffer | null;
}

export async function findDelivery(
  db: Queryable,
  reach: Reach,
  id: string,
  includeBody: boolean,
): Promise<DeliveryDetailRow | undefined> {
  const values = [reach.projectId, id, reach.groupRef ?? null, includeBody];
  return (await db.rows<DeliveryDetailRow>(find, values))[0];
}

/** Queues a delivery that is over; false when it is not. */
export async function deliverAgain(
  db: Queryable,
  projectId: string,
  { id, destination_id }: Pick<DeliveryRow, 'id' | 'destination_id'>,
): Promise<boolean> {
  return (await db.rows(again, [projectId, id, destination_id])).length > 0;
}

export interface LinkRow {
  link_hash: Buffer;
  /** Its time is over. */
  over: boolean;
}

/** The links of messages, each by the place of its key. */
export async function findLinks(
  db: Queryable,
  keys: readonly { projectId: string; id: string }[],
): Promise<Map<number, LinkRow>> {
  const rows = await db.rows<LinkRow & { n: number }>(findLink, [
    keys.map(({ projectId }) => projectId),
    keys.map(({ id }) => id),
  ]);
  return new Map(rows.map(({ n, ...row }) => [n - 1, row]));
}
