import type { Eraser } from '../kit/db/erasing.ts';
import { statement } from '../kit/db/statement.ts';
import { stateLifeSeconds } from './oauth/index.ts';

/** A group `g` that may go: nothing of it was made after `askedAt`, the number of a parameter. A person who stays keeps it. */
const isGroupOver = (askedAt: number): string => `g.updated_at <= $${askedAt}::timestamptz
       AND NOT EXISTS (SELECT FROM connection c WHERE c.project_id = g.project_id AND c.group_ref = g.group_ref)
       AND NOT EXISTS (SELECT FROM group_consumer m WHERE m.project_id = g.project_id AND m.group_ref = g.group_ref AND m.updated_at > $${askedAt}::timestamptz)`;
/** A person `k` of a group who may go. */
const isPersonOver = (askedAt: number): string => `k.updated_at <= $${askedAt}::timestamptz
       AND NOT EXISTS (SELECT FROM connection c WHERE c.project_id = k.project_id AND c.group_ref = k.group_ref AND c.consumer_ref = k.consumer_ref)`;

// Whoever connects holds the row of the group until the connection stands. A row that is locked here keeps them waiting until its
// fate is known, and the statements after it see every connection that came before.
const lockGroups = statement(
  'connections_erase_lock_groups',
  `SELECT g.group_ref FROM customer_group g
   WHERE g.project_id = $1 AND ($2::text IS NULL OR g.group_ref = $2)
     AND (${isGroupOver(4)}
       OR EXISTS (SELECT FROM group_consumer k WHERE k.project_id = g.project_id AND k.group_ref = g.group_ref AND ${isPersonOver(4)}))
   LIMIT $3 FOR UPDATE SKIP LOCKED`,
);
const eraseGroups = statement(
  'connections_erase_groups',
  `WITH people AS (
     DELETE FROM group_consumer k WHERE k.project_id = $1 AND k.group_ref = ANY($2) AND ${isPersonOver(3)}
     RETURNING 1),
   groups AS (
     DELETE FROM customer_group g WHERE g.project_id = $1 AND g.group_ref = ANY($2) AND ${isGroupOver(3)}
     RETURNING 1)
   SELECT ((SELECT count(*) FROM people) + (SELECT count(*) FROM groups))::int AS n`,
);

// Names that nodes of a release before wrote down, without their group. A row that holds none is nobody's, and does not count.
const lockConsumers = statement(
  'connections_erase_lock_consumers',
  `SELECT k.consumer_ref FROM consumer k
   WHERE k.project_id = $1 AND k.updated_at <= $3::timestamptz
     AND NOT EXISTS (SELECT FROM connection c WHERE c.project_id = k.project_id AND c.consumer_ref = k.consumer_ref)
   LIMIT $2 FOR UPDATE SKIP LOCKED`,
);
const eraseConsumers = statement(
  'connections_erase_consumers',
  `WITH people AS (
     DELETE FROM consumer k WHERE k.project_id = $1 AND k.consumer_ref = ANY($2) AND k.updated_at <= $3::timestamptz
       AND NOT EXISTS (SELECT FROM connection c WHERE c.project_id = k.project_id AND c.consumer_ref = k.consumer_ref)
     RETURNING k.name <> k.consumer_ref AS is_name)
   SELECT (count(*) FILTER (WHERE is_name))::int AS n FROM people`,
);

// One that was under way then begins anew. Its expiry tells when it was made, or, once it was used, when.
const eraseFlows = statement(
  'connections_erase_flows',
  `WITH flows AS (
     DELETE FROM oauth_flow WHERE state_hash IN (
       SELECT state_hash FROM oauth_flow WHERE project_id = $1 AND ($2::text IS NULL OR request->>'groupRef' = $2)
         AND expires_at <= $4::timestamptz + ${stateLifeSeconds} * interval '1 second' LIMIT $3)
     RETURNING 1)
   SELECT count(*)::int AS n FROM flows`,
);

/** Removes what was made until then: the names of people who have no connection, and of groups that have none, and authorizations that were begun. */
export const eraseCustomers: Eraser = async (tx, { projectId, groupRef, askedAt }, limit) => {
  const groups = await tx.rows<{ group_ref: string }>(lockGroups, [projectId, groupRef, limit, askedAt]);
  const refs = groups.map((row) => row.group_ref);
  const [named] = await tx.rows<{ n: number }>(eraseGroups, [projectId, refs, askedAt]);
  const consumers = await tx.rows<{ consumer_ref: string }>(lockConsumers, [projectId, limit, askedAt]);
  const [before] = await tx.rows<{ n: number }>(eraseConsumers, [
    projectId,
    consumers.map((row) => row.consumer_ref),
    askedAt,
  ]);
  const [flows] = await tx.rows<{ n: number }>(eraseFlows, [projectId, groupRef, limit, askedAt]);
  return {
    last: null,
    scanned: Math.max(groups.length, consumers.length, flows?.n ?? 0),
    removed: (named?.n ?? 0) + (before?.n ?? 0) + (flows?.n ?? 0),
    unfinished: 0,
  };
};
