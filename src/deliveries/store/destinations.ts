import type { Queryable } from '../../kit/db/database.ts';
import { statement } from '../../kit/db/statement.ts';

export type DestinationStatus = 'active' | 'disabled';

export interface DestinationRow {
  project_id: string;
  id: string;
  name: string;
  type: string;
  metadata: Record<string, unknown>;
  secrets: Buffer;
  status: DestinationStatus;
  reason: string | null;
  failing_since: Date | null;
  created_at: Date;
  updated_at: Date;
}

const columns =
  'd.project_id, d.id, d.name, d.type, d.metadata, d.secrets, d.status, d.reason, d.failing_since, d.created_at, d.updated_at';

const load = statement(
  'destinations_load',
  `SELECT i.n::int AS n, ${columns}
  FROM unnest($1::uuid[], $2::uuid[], $3::text[]) WITH ORDINALITY AS i(project_id, id, name, n)
  JOIN destination d ON d.project_id = i.project_id AND (d.id = i.id OR lower(d.name) = lower(i.name))`,
);

/** One of id and name. */
export interface DestinationKey {
  projectId: string;
  id?: string;
  name?: string;
}

/** Those that exist, each with the number of its key, from 1. */
export function loadDestinations(
  db: Queryable,
  keys: readonly DestinationKey[],
): Promise<(DestinationRow & { n: number })[]> {
  return db.rows(load, [
    keys.map(({ projectId }) => projectId),
    keys.map(({ id }) => id ?? null),
    keys.map(({ name }) => name ?? null),
  ]);
}
