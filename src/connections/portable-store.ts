import { Type } from 'typebox';
import type { Queryable } from '../kit/db/database.ts';
import { portable, type Portable, type PortableRow, type RowFault } from '../kit/db/portable.ts';
import { orNull, text, timestamp, times, uuid } from '../kit/db/portable-schema.ts';
import { statement } from '../kit/db/statement.ts';
import { reference } from '../kit/reference-schema.ts';
import type { Ground } from '../kit/ground.ts';
import { hurryAll } from '../lanes/index.ts';
import { handedDetail, handedStatus, howKnown, isHandedOver, isUsed } from './as-of.ts';
import { asideIn } from './aside.ts';
import { openWindow } from './budget/index.ts';
import { SealedSecrets, sealedCredentials } from './credentials/index.ts';
import { mostStatusDetail } from './limits.ts';
import { AuthScheme, ConnectionStatus, ProviderMetadata } from './schema.ts';

const held = 'a node there holds it for a moment';
const ref = reference('As the builder names it.');

/** As long as clocks may differ. What is known as of later would never be changed here. */
const mostAheadMs = 86_400_000;

function timesToCome(row: Record<'as_of' | 'moved_at' | 'signed_in_at', string | null>): RowFault[] {
  const { as_of, moved_at, signed_in_at } = row;
  return Object.entries({ as_of, moved_at, signed_in_at }).flatMap(([name, value]) =>
    value !== null && Date.parse(value) > Date.now() + mostAheadMs
      ? [{ name, detail: 'is more than a day from now', value }]
      : [],
  );
}

/** SQL: whether the row `r` of a file comes in place of the row `t` of its id. */
const isReplaced = `${isHandedOver} AND (t.provider, t.group_ref, t.consumer_ref) = (r.provider, r.group_ref, r.consumer_ref)`;

// In order, so that two imports do not wait for one another.
const hold = statement(
  'connections_hold_replaced',
  `SELECT t.id, t.refresh_lease IS NOT NULL AND t.refresh_lease_until >= svc_now() AS is_renewed,
     coalesce(r.signed_in_at > coalesce(t.signed_in_at, '-infinity'), false) AS is_signed_in
   FROM json_populate_recordset(NULL::connection, $2::json) r JOIN connection t ON t.project_id = $1 AND t.id = r.id
   WHERE ${isReplaced} ORDER BY t.id FOR UPDATE OF t`,
);

function asJson(rows: readonly PortableRow[]): string {
  return `[${rows.map(({ row }) => row).join(',')}]`;
}

/** A connection that is replaced, and whether it gets credentials of a later sign-in. */
export interface Replaced {
  id: string;
  isSignedIn: boolean;
}

/**
 * Holds the connections that rows of a file will replace, until the transaction ends: no renewal of them begins. Answers these;
 * undefined when a renewal is under way, whose tokens may be the newer ones.
 */
export async function holdReplaced(
  tx: Queryable,
  projectId: string,
  rows: readonly PortableRow[],
): Promise<Replaced[] | undefined> {
  const found = await tx.rows<{ id: string; is_renewed: boolean; is_signed_in: boolean }>(hold, [
    projectId,
    asJson(rows),
  ]);
  if (found.some(({ is_renewed: isRenewed }) => isRenewed)) return undefined;
  return found.map(({ id, is_signed_in: isSignedIn }) => ({ id, isSignedIn }));
}

const generations = statement(
  'connections_generations',
  `SELECT id, generation::float8 AS generation FROM connection WHERE project_id = $1 AND id = ANY($2::uuid[]) ORDER BY id`,
);

/** Where somebody signed in later, a limit of the credentials before counts no more. */
export async function openWindows(
  tx: Queryable,
  projectId: string,
  replaced: readonly Replaced[],
): Promise<void> {
  const signedIn = replaced.flatMap(({ id, isSignedIn }) => (isSignedIn ? [id] : []));
  if (signedIn.length === 0) return;
  const rows = await tx.rows<{ id: string; generation: number }>(generations, [projectId, signedIn]);
  for (const { id, generation } of rows) await openWindow(tx, [projectId, id], generation);
}

/**
 * What waits for connections that came back goes on. After the commit that brought them: they may be 20,000, and no node claims
 * anything while one holds their lanes. Without this it goes on when it looks for them by itself.
 */
export async function goOn(
  { database, log }: Pick<Ground, 'database' | 'log'>,
  projectId: string,
  connectionIds: readonly string[],
): Promise<void> {
  try {
    await hurryAll(database, projectId, connectionIds);
  } catch (error) {
    log.warn(
      { err: error, projectId },
      'what waits for connections that came back goes on up to five minutes later',
    );
  }
}

/**
 * SQL: the generation of the row `r` that comes in. Where a connection of its id was deleted, what calls tell of those of before the
 * last opening of its window counts nowhere: it begins there.
 */
const firstGeneration = `coalesce((
    SELECT max(b.opened_generation) FROM budget b WHERE b.project_id = $1 AND b.connection_id = r.id), 0) + 1`;

// In order, so that two imports do not wait for one another. Who connects does not wait for them.
const holdGroups = statement(
  'connections_hold_groups',
  `SELECT FROM json_populate_recordset(NULL::customer_group, $2::json) r
   JOIN customer_group t ON t.project_id = $1 AND t.group_ref = r.group_ref ORDER BY t.group_ref FOR KEY SHARE OF t`,
);

/** Those that are there stay, too, until the transaction ends: else an erasure takes them before their connections came. */
function heldGroups(groups: Portable): Portable {
  return {
    ...groups,
    async write(tx, projectId, rows, vault) {
      await tx.rows(holdGroups, [projectId, asJson(rows)]);
      return groups.write(tx, projectId, rows, vault);
    },
  };
}

/** What of this room goes along with a project, in the order in which it comes in. */
export const portableConnections: readonly Portable[] = [
  heldGroups(
    portable({
      kind: 'groups',
      table: 'customer_group',
      key: { group_ref: ref },
      columns: { name: text(255), ...times },
    }),
  ),
  portable({
    kind: 'consumers',
    table: 'group_consumer',
    key: { group_ref: ref, consumer_ref: ref },
    columns: { name: text(255), ...times },
  }),
  portable({
    kind: 'connections',
    table: 'connection',
    key: { id: uuid },
    columns: {
      provider: text(255),
      provider_app_id: orNull(uuid),
      group_ref: ref,
      consumer_ref: ref,
      workspace_ref: orNull(text(255)),
      provider_consumer_ref: orNull(text(2_000)),
      auth_scheme: AuthScheme,
      status: { shape: ConnectionStatus, as: handedStatus('t.') },
      status_detail: { shape: orNull(Type.String({ maxLength: mostStatusDetail })), as: handedDetail('t.') },
      provider_metadata: ProviderMetadata,
      scopes: orNull(Type.Array(Type.String({ maxLength: 4_096 }))),
      access_issued_at: orNull(timestamp),
      access_expires_at: orNull(timestamp),
      as_of: timestamp,
      signed_in_at: orNull(timestamp),
      // Of a row that is handed over. It is not moved away from where it comes in.
      moved_at: { shape: orNull(timestamp), into: 'NULL::timestamptz' },
      ...times,
    },
    left: {
      generation: 'each server counts for itself',
      aside_generation: 'it counts with the generation; its detail says it where it comes in',
      refresh_lease: held,
      refresh_lease_until: held,
      keep_alive_at: held,
      unauthorized_at: 'it is about the token in place there',
      refused_since: 'it is about the token in place there',
      moved_dead: 'its status says it where it comes in',
      came_in: 'it is so of all that comes in',
    },
    given: { came_in: 'true', generation: firstGeneration, aside_generation: asideIn(firstGeneration) },
    called: 't.group_ref',
    rules: timesToCome,
    givesWay: {
      where: isReplaced,
      named: isUsed,
      also: {
        generation: 't.generation + 1',
        aside_generation: asideIn('t.generation + 1'),
        refresh_lease: 'NULL',
        refresh_lease_until: 'NULL',
        keep_alive_at: 'NULL',
        unauthorized_at: 'NULL',
        refused_since: 'NULL',
      },
    },
    differs: { where: 't.moved_at IS NULL AND r.as_of <> t.as_of', how: howKnown },
    sealed: { column: 'credentials', place: sealedCredentials.place, shape: SealedSecrets },
  }),
];
