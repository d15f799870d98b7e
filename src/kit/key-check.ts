import type { Database } from './db/database.ts';
import { statement } from './db/statement.ts';
import type { Logger } from './log.ts';
import { sleep } from './retry.ts';
import type { SealedColumn } from './rotation.ts';
import type { Vault } from './vault.ts';

const list = statement('master_keys_list', 'SELECT id, check_value FROM master_key ORDER BY id');
const insert = statement(
  'master_keys_insert',
  'INSERT INTO master_key (id, check_value) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING',
);

// Not svc_now(), which tests move.
const note = statement(
  'master_keys_note',
  `WITH noted AS (
    INSERT INTO master_key AS k (id, check_value, used_at) VALUES ($1, $2, clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET used_at = excluded.used_at RETURNING xmax = 0 AS "isNew")
   SELECT "isNew", ARRAY(SELECT id FROM master_key ORDER BY id) AS ids FROM noted`,
);
const uses = statement(
  'master_keys_uses',
  `SELECT id, extract(epoch FROM clock_timestamp() - used_at)::float8 * 1000 AS "agoMs" FROM master_key
   WHERE id <> $1 AND used_at > clock_timestamp() - $2 * interval '1 millisecond'`,
);

const retire = statement('master_keys_retire', 'DELETE FROM master_key WHERE id <> $1');

interface CheckRow {
  id: string;
  check_value: Buffer;
}

const placeOf = (keyId: string): string => `master-key/${keyId}`;

/**
 * Throws unless the vault has the master keys that this database was sealed with: a node with others would open no
 * credential, and its own values would not open elsewhere. The first node of a database stores a check value for the next ones;
 * `columns` hold what an older release sealed, without one.
 */
export async function checkMasterKeys(
  database: Database,
  vault: Vault,
  columns: readonly SealedColumn[],
): Promise<void> {
  const known = await opened(database, vault);
  if (known.has(vault.activeKeyId)) return;
  const isOneRight = [...known.values()].includes(true);
  if (known.size > 0 && !isOneRight) throw foreign([...known.keys()]);
  if (known.size === 0) await checkSamples(database, vault, columns);
  const value = vault.seal(vault.activeKeyId, placeOf(vault.activeKeyId));
  await database.rows(insert, [vault.activeKeyId, value]);
  // Two nodes started at once with different keys of one name; one of them stored the value.
  await opened(database, vault);
}

/** What {@link checkMasterKeys} would throw, or which keys of the database the vault lacks. Changes nothing. */
export async function findKeyFault(
  database: Database,
  vault: Vault,
  columns: readonly SealedColumn[],
): Promise<string | undefined> {
  try {
    const known = await opened(database, vault);
    if (known.size > 0 && ![...known.values()].includes(true)) throw foreign([...known.keys()]);
    if (known.size === 0) await checkSamples(database, vault, columns);
    const lacked = [...known.keys()].filter((id) => !known.get(id));
    return lacked.length === 0 ? undefined : lacking(lacked);
  } catch (error) {
    return (error as Error).message;
  }
}

/** The names of the keys that this database is sealed with. */
export async function sealingKeys(database: Database): Promise<string[]> {
  return (await database.rows<CheckRow>(list)).map(({ id }) => id);
}

const noteEveryMs = 5_000;
/** After so long without a note nobody seals under a key. */
const quietMs = 12_000;

/**
 * A node that runs notes the key that it seals under: what it seals after a rotation keeps its check value, and a rotation that would
 * come too early is refused. It tells in its log that a rotation took it for gone, and of keys of other nodes that it lacks.
 */
export function noteKeyInUse(
  database: Database,
  vault: Vault,
  log: Pick<Logger, 'warn' | 'error'>,
  everyMs = noteEveryMs,
): () => void {
  const { activeKeyId, keyIds } = vault;
  const value = vault.seal(activeKeyId, placeOf(activeKeyId));
  let lackedBefore: readonly string[] | undefined;
  const look = ({ isNew, ids }: { isNew: boolean; ids: readonly string[] }): void => {
    if (isNew) log.error(retired(activeKeyId));
    const lacked = ids.filter((id) => !keyIds.includes(id));
    // What is lacked at the start is told there.
    const added = lacked.filter((id) => lackedBefore && !lackedBefore.includes(id));
    if (added.length > 0) log.warn(lacking(added));
    lackedBefore = lacked;
  };
  const noted = (): void =>
    void database.rows<{ isNew: boolean; ids: string[] }>(note, [activeKeyId, value]).then(
      (rows) => rows.forEach(look),
      // Away, or takes no changes: what is ready tells that.
      () => undefined,
    );
  noted();
  const timer = setInterval(noted, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** A key that is not the vault's first, and that a node seals under. Waits for seconds where one did a moment ago. */
export async function otherKeyInUse(
  database: Database,
  vault: Vault,
  onWait: (keyId: string) => void,
): Promise<string | undefined> {
  let before: Map<string, number> | undefined;
  for (;;) {
    const rows = await database.rows<{ id: string; agoMs: number }>(uses, [vault.activeKeyId, quietMs]);
    const [first] = rows;
    if (!first) return undefined;
    if (!before) onWait(first.id);
    const again = rows.find(({ id, agoMs }) => agoMs < (before?.get(id) ?? -Infinity));
    if (again) return again.id;
    before = new Map(rows.map(({ id, agoMs }) => [id, agoMs]));
    await sleep(1_000);
  }
}

/** Nothing is under another key than the vault's first: a node that has only others is refused from now on. */
export async function retireOtherKeys(database: Database, vault: Vault): Promise<void> {
  await checkMasterKeys(database, vault, []);
  await database.rows(retire, [vault.activeKeyId]);
}

/** The known keys: true those that the vault has. Throws for one that has the name of a known key and is another. */
async function opened(database: Database, vault: Vault): Promise<Map<string, boolean>> {
  const known = new Map<string, boolean>();
  for (const { id, check_value: value } of await database.rows<CheckRow>(list)) {
    const isConfigured = vault.keyIds.includes(id);
    if (isConfigured && !opens(vault, value, placeOf(id))) throw wrong(id);
    known.set(id, isConfigured);
  }
  return known;
}

async function checkSamples(
  database: Database,
  vault: Vault,
  columns: readonly SealedColumn[],
): Promise<void> {
  for (const { sample, place } of columns) {
    const [row] = await database.rows<{ project_id: string; row_id: string | Buffer; value: Buffer }>(sample);
    if (!row) continue;
    const keyId = vault.keyIdOf(row.value);
    if (!vault.keyIds.includes(keyId)) throw foreign([keyId]);
    if (!opens(vault, row.value, place(row.project_id, row.row_id))) throw wrong(keyId);
  }
}

function opens(vault: Vault, sealed: Buffer, place: string): boolean {
  try {
    vault.open(sealed, place);
    return true;
  } catch {
    return false;
  }
}

function wrong(keyId: string): Error {
  return new Error(
    `the master key ${keyId} is not the one that this database was sealed with. Set SVC_ENCRYPTION_KEYS (or the file encryption-keys in SVC_DATA_DIR) to the right one; nothing was changed.`,
  );
}

function foreign(known: readonly string[]): Error {
  return new Error(
    `none of the master keys is one that this database was sealed with (${known.join(', ')}). Add it to SVC_ENCRYPTION_KEYS; nothing was changed.`,
  );
}

function lacking(keyIds: readonly string[]): string {
  return `this database is sealed under the master key ${keyIds.join(', ')}, too, which is not configured here: nothing that is under it opens. Add it behind the first of SVC_ENCRYPTION_KEYS (or of the file encryption-keys in SVC_DATA_DIR); svc master-keys rotate lists what is under a key that is lost.`;
}

function retired(keyId: string): string {
  return `svc master-keys rotate took the key ${keyId} for one that no node seals under, since this node was not seen for a while (frozen, or cut off from the database). What it seals is under ${keyId}: keep that key, put the first key of the other nodes first here, restart this node, and run svc master-keys rotate again`;
}
