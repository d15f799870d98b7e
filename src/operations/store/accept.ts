import type { Queryable } from '../../kit/db/database.ts';
import { askInTime, clockUntil, orLate, type TimedDatabase } from '../../kit/db/in-time.ts';
import { statement } from '../../kit/db/statement.ts';
import { storable } from '../../kit/storable.ts';
import { markedOrParked, woken } from '../../lanes/index.ts';
import type { Intake } from '../work.ts';
import { claimKeys, keyColumns } from './keys.ts';
import { turnKey } from './turn-key.ts';

/** One thing to insert. `lease` is that of the node's lane for a synchronous write, null for queued work. */
export interface AcceptRow extends Intake {
  operationId: string;
  lease: string | null;
  /** The trace of the request, where it is traced. */
  trace?: string | undefined;
  /** The records as JSON, in their order. */
  payloads: readonly string[];
}

export interface AcceptedRow {
  operation_id: string;
  seq: string;
  state: number;
}

/** The state of an item that waits for its turn. */
export const parked = 2;

/** What the statement has only where a row of the group has a key, or concerns a record that others may concern. */
interface AcceptParts {
  keys: string;
  unlessReplayed: string;
  behind: string;
  isBehind: string;
  turns: string;
}

/**
 * A whole group in one statement (docs/invariants.md, 10). What many rows of a group have in common is sent once: row `n` has the
 * share `s`, and a record the number of its row. Marked rows are inserted only while their node's lane is still held;
 * the key-share lock makes a claim of that lane wait for them, so that its rescue sees them. A row whose
 * idempotency key stands already is not inserted. A row that stands behind another of its record is parked; a marked one is
 * not marked then, and its node waits for its turn. A statement that begins too late inserts nothing.
 */
const acceptText = ({
  keys,
  unlessReplayed,
  behind,
  isBehind,
  turns,
}: AcceptParts): string => `WITH ${clockUntil(23)},
  input AS MATERIALIZED (
    SELECT i.*, ($6::uuid[])[s] AS project_id, ($7::uuid[])[s] AS integration_id, ($8::uuid[])[s] AS installation_id,
      ($9::uuid[])[s] AS config_id, ($10::uuid[])[s] AS lane_id, ($11::text[])[s] AS action_type, ($12::text[])[s] AS resource,
      (($13::text[])[s] || CASE WHEN request_id IS NULL THEN '}' ELSE ',"requestId":' || to_json(request_id) || '}' END)::json
        AS request,
      ($14::float8[])[s] AS deadline_s, ($15::float8[])[s] AS due_s, ($16::smallint[])[s] AS prio
    FROM unnest($1::uuid[], $2::int[], $3::int[], $4::uuid[], $5::boolean[], $21::text[], $22::text[])
      WITH ORDINALITY AS i(id, s, total, lease, ordered, trace, request_id, n)
    WHERE (SELECT in_time FROM clock)),
  held AS MATERIALIZED (
    SELECT l.project_id, l.id FROM lane l
    JOIN (SELECT DISTINCT project_id, lane_id, lease FROM input WHERE lease IS NOT NULL) i
      ON l.project_id = i.project_id AND l.id = i.lane_id AND l.lease = i.lease
    WHERE l.due_at > (SELECT now FROM clock) FOR KEY SHARE OF l),
  wanted AS MATERIALIZED (
    SELECT i.* FROM input i
    WHERE i.lease IS NULL OR EXISTS (SELECT FROM held h WHERE h.project_id = i.project_id AND h.id = i.lane_id)),
  ${keys}
  accepted AS MATERIALIZED (SELECT w.* FROM wanted w ${unlessReplayed}),
  ${behind}
  operations AS (
    INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource,
      status, total, created_at, updated_at)
    SELECT project_id, id, integration_id, installation_id, config_id, action_type, request, resource,
      'in_progress', total, now, now FROM accepted, clock),
  records AS (
    INSERT INTO record (project_id, operation_id, slot, payload, reference)
    SELECT ($6::uuid[])[($2::int[])[r.n]], ($1::uuid[])[r.n], r.slot, r.payload, r.reference
    FROM unnest($17::int[], $18::int[], $19::json[], $20::text[]) AS r(n, slot, payload, reference)
    WHERE r.n::bigint IN (SELECT n FROM accepted)),
  works AS (
    INSERT INTO work (project_id, ref, lane_id, kind, prio, due_at, deadline, state, attempt, lease, ordered, trace)
    SELECT project_id, id, lane_id, action_type, prio, now + due_s * interval '1 second', now + deadline_s * interval '1 second',
      CASE WHEN behind THEN 2 ELSE marked END, CASE WHEN behind THEN 0 ELSE marked END, lease, ordered, trace
    FROM (SELECT *, (lease IS NOT NULL)::int AS marked, ${isBehind} AS behind FROM accepted) a, clock ORDER BY n
    RETURNING project_id, ref, seq, state),
  ${turns}
  wakes AS (
    ${woken("SELECT project_id, lane_id, now + due_s * interval '1 second' AS due_at FROM accepted, clock WHERE lease IS NULL")})
  SELECT ref AS operation_id, seq, state, NULL::float8 AS "lateAt" FROM works ${orLate(3)}`;

/**
 * Who parks holds a turn before its own until the commit: whoever takes that away sees then to whom it passes. A turn that
 * is being taken away is not waited for; the item is ready then, and its take looks again. A synchronous write parks behind
 * any, since its node looks for itself; it waits for other acceptances of synchronous writes of its record, and sees them
 * (`svc_hold_turns`).
 */
const behind = `wanted_turns AS MATERIALIZED (
    SELECT DISTINCT a.n, a.project_id, a.id, a.lease IS NOT NULL AS marked, t.order_key
    FROM unnest($24::uuid[], $25::text[]) AS t(operation_id, order_key) JOIN accepted a ON a.id = t.operation_id),
  behind AS MATERIALIZED (
    SELECT n FROM (
      SELECT t.n FROM wanted_turns t CROSS JOIN LATERAL (
        SELECT e.seq FROM turn e WHERE e.project_id = t.project_id AND e.order_key = t.order_key
        ORDER BY e.seq DESC LIMIT 1 FOR KEY SHARE OF e SKIP LOCKED) e
      WHERE NOT t.marked) queued
    UNION
    SELECT t.n FROM (SELECT array_agg(project_id) AS projects, array_agg(order_key) AS keys FROM wanted_turns WHERE marked) m
    CROSS JOIN LATERAL svc_hold_turns(m.projects, m.keys) h
    JOIN wanted_turns t ON t.marked AND t.project_id = h.project_id AND t.order_key = h.order_key
    UNION
    SELECT n FROM (SELECT n, row_number() OVER (PARTITION BY project_id, order_key ORDER BY n) AS place FROM wanted_turns) g
    WHERE place > 1),`;

const turnsInsert = `turns AS (
    INSERT INTO turn (project_id, order_key, seq, marked)
    SELECT w.project_id, t.order_key, w.seq, w.state = 1 FROM wanted_turns t JOIN works w ON w.ref = t.id),`;

const acceptGroup = statement(
  'ledger_accept',
  acceptText({
    keys: `${claimKeys(26, 'wanted')},`,
    unlessReplayed: 'WHERE w.n NOT IN (SELECT n FROM replayed)',
    behind,
    isBehind: 'n IN (SELECT n FROM behind)',
    turns: turnsInsert,
  }),
);
/** The same for a group without keys and turns, as most are: what concerns them is a third of a small group's cost. */
const acceptPlainGroup = statement(
  'ledger_accept_plain',
  acceptText({ keys: '', unlessReplayed: '', behind: '', isBehind: 'false', turns: '' }),
);

// LIMIT keeps the look-up apart, so that it is by the whole key and not by reading all of a partition that was empty once.
const findOperations = statement(
  'ledger_find_accepted',
  `SELECT o.id AS operation_id FROM unnest($1::uuid[], $2::uuid[]) AS i(project_id, id)
  CROSS JOIN LATERAL (SELECT id FROM operation o WHERE o.project_id = i.project_id AND o.id = i.id LIMIT 1) o`,
);

const findMarked = statement(
  'ledger_find_marked',
  `SELECT w.ref AS operation_id, w.seq, w.state FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[])
    AS i(project_id, id, operation_id, lease)
  CROSS JOIN LATERAL (${markedOrParked('w.ref = i.operation_id AND w.lease = i.lease')}) w`,
);

/**
 * Inserts the rows. Missing from the answer, and not inserted, are a marked one whose node lost its lane and one whose key
 * stands already.
 */
export async function insertGroup(
  db: TimedDatabase,
  rows: readonly AcceptRow[],
): Promise<Map<string, AcceptedRow>> {
  const column = <T>(read: (row: AcceptRow) => T): T[] => rows.map(read);
  const { shares, shareOf } = sharesOf(rows);
  const records = rows.flatMap((row, at) =>
    row.records.map(({ reference }, slot) => ({ n: at + 1, slot, payload: row.payloads[slot], reference })),
  );
  const turns = rows.flatMap((row) =>
    (row.orderKeys ?? []).flatMap((key) => (key === null ? [] : [{ row, key }])),
  );
  const keyed = rows.flatMap(({ projectId, operationId, key }, at) =>
    key ? [{ n: at + 1, projectId, operationId, key }] : [],
  );
  const isPlain = keyed.length === 0 && turns.length === 0;
  const values = [
    column((row) => row.operationId),
    shareOf,
    column((row) => row.records.length),
    column((row) => row.lease),
    column((row) => row.orderKeys?.some((key) => key !== null) ?? false),
    ...shared.map((read) => shares.map(read)),
    records.map(({ n }) => n),
    records.map(({ slot }) => slot),
    records.map(({ payload }) => payload),
    records.map(({ reference }) => (reference === undefined ? null : storable(reference))),
    column((row) => row.trace ?? null),
    column((row) => row.requestId ?? null),
  ];
  const more = [
    turns.map((turn) => turn.row.operationId),
    turns.map((turn) => turnKey(turn.key)),
    ...keyColumns(keyed),
  ];
  const inserted = await askInTime<AcceptedRow>(db, (latest) =>
    isPlain
      ? db.rows(acceptPlainGroup, [...values, latest])
      : db.rows(acceptGroup, [...values, latest, ...more]),
  );
  return new Map(inserted.map((row) => [row.operation_id, row]));
}

/** What rows have in common, as the first of them has it. */
interface Share {
  row: AcceptRow;
  /** As JSON without its end, to which the id of each request is added: to cut it off there costs as much as to check the whole. */
  request: string;
}

/** What makes a share, in the order of the parameters 6 to 16. */
const shared: readonly ((share: Share) => string | number)[] = [
  ({ row }) => row.projectId,
  ({ row }) => row.integrationId,
  ({ row }) => row.installationId,
  ({ row }) => row.configId,
  ({ row }) => row.laneId,
  ({ row }) => row.actionType,
  ({ row }) => row.resource,
  ({ request }) => request,
  ({ row }) => row.deadlineSeconds,
  ({ row }) => row.dueInSeconds ?? 0,
  ({ row }) => row.prio ?? 1,
];

/**
 * The different shares of the rows, and for each row the number of its own, from 1. By comparison, since a text of all of
 * it would be made and hashed for each row.
 */
function sharesOf(rows: readonly AcceptRow[]): { shares: Share[]; shareOf: number[] } {
  const shares: Share[] = [];
  const ofInstallation = new Map<string, number[]>();
  const shareOf = rows.map((row) => {
    const own = { row, request: JSON.stringify(row.request).slice(0, -1) };
    const alike = ofInstallation.get(row.installationId);
    const known = alike?.find((n) => isSame(shares[n - 1], own));
    if (known !== undefined) return known;
    const added = shares.push(own);
    if (alike) alike.push(added);
    else ofInstallation.set(row.installationId, [added]);
    return added;
  });
  return { shares, shareOf };
}

function isSame(one: Share | undefined, other: Share): boolean {
  return one !== undefined && shared.every((read) => read(one) === read(other));
}

/** Those of the rows that are in the ledger already; `seq` is empty unless it is marked, or parked, and still under its lease. */
export async function findAccepted(
  db: Queryable,
  rows: readonly AcceptRow[],
): Promise<Map<string, AcceptedRow>> {
  const ids = rows.map((row) => row.operationId);
  const projects = rows.map((row) => row.projectId);
  const found = await db.rows<{ operation_id: string }>(findOperations, [projects, ids]);
  const lanes = rows.map((row) => row.laneId);
  const leases = rows.map((row) => row.lease);
  const marked = await db.rows<AcceptedRow>(findMarked, [projects, lanes, ids, leases]);
  const held = new Map(marked.map((row) => [row.operation_id, row]));
  return new Map(
    found.map(({ operation_id }) => [
      operation_id,
      held.get(operation_id) ?? { operation_id, seq: '', state: 0 },
    ]),
  );
}
