import type { Client } from 'pg';
import { faulty, good, warning, type Finding } from '../finding.ts';
import { briefConnection, silenceAt, silentRemedy } from './brief.ts';
import { isUnanswered, sqlState } from './faults.ts';
import { takeRoom } from './room.ts';

export const oldestPostgres = 15;
/** Above it a node takes no work. */
const mostSkewMs = 24 * 3_600_000;
/** Above it what was made a moment ago seems to be of another time: tokens, sessions and links end early or late. */
const wrongSkewMs = 3_600_000;
/** Above it times in logs and limits are hard to follow. */
const muchSkewMs = 30_000;

/** Of the server itself; undefined when it is new enough. */
export function faultOfVersion(versionNumber: number): string | undefined {
  const major = Math.floor(versionNumber / 10_000);
  return major >= oldestPostgres
    ? undefined
    : `the server is PostgreSQL ${major}, and svc needs ${oldestPostgres} or later`;
}

const readState = `SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS shown,
  current_user AS role, current_schema() AS schema, current_database() AS database,
  coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreate",
  current_setting('transaction_read_only') = 'on' AS "isReadOnly", pg_is_in_recovery() AS "isReplica",
  extract(epoch FROM clock_timestamp())::float8 * 1000 AS now, pg_database_size(current_database())::float8 AS bytes,
  current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most,
  (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used`;

const readRefused = `SELECT c.relname AS table,
    NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
      AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE')) AS "isRefused",
    NOT pg_has_role(c.relowner, 'USAGE') AS "isForeign"
  FROM pg_class c
  WHERE c.relkind IN ('r', 'p')
    AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('migrations'))`;

interface State {
  version: number;
  shown: string;
  role: string;
  schema: string | null;
  database: string;
  mayCreate: boolean;
  isReadOnly: boolean;
  isReplica: boolean;
  now: number;
  bytes: number;
  most: number;
  used: number;
}

/** Whether the database can be worked with. `isUsable`: further questions make sense. Changes nothing that stays. */
export async function examineDatabase(
  url: string,
  poolSize: number,
): Promise<{ findings: Finding[]; isUsable: boolean }> {
  const client = briefConnection(url, 'svc doctor');
  try {
    await client.connect();
  } catch (error) {
    return { findings: [unreached(url, error)], isUsable: false };
  }
  try {
    const askedAt = Date.now();
    const state = (await client.query<State>(readState)).rows[0];
    if (!state) throw new Error('the database did not say how it is');
    const tables = (await client.query<Refused>(readRefused)).rows;
    const skewMs = (askedAt + Date.now()) / 2 - state.now;
    const findings = [...judgeState(state, poolSize), judgeClock(skewMs), ...judgeRights(state, tables)];
    if (!state.isReadOnly) findings.push(await tryToWrite(client));
    return { findings, isUsable: tables.every(({ isRefused }) => !isRefused) };
  } catch (error) {
    if (isUnanswered(error)) return { findings: [unreached(url, error)], isUsable: false };
    const says = `the database refuses a question: ${(error as Error).message}`;
    return { findings: [faulty('database', says, 'Look into the log of PostgreSQL.')], isUsable: false };
  } finally {
    await client.end().catch(() => undefined);
  }
}

const remedies: Record<string, string> = {
  ECONNREFUSED: 'Start PostgreSQL, or set DATABASE_URL to where it listens.',
  ENOTFOUND: 'Set the host in DATABASE_URL to a name that is known here.',
  EAI_AGAIN: 'Look whether names can be looked up here.',
  '28P01': 'Set the password in DATABASE_URL to that of the role.',
  '28000': 'Let the role in by pg_hba.conf, with TLS (sslmode=require) where the server wants it.',
  '3D000': 'Make the database: CREATE DATABASE … OWNER …; or name another one in DATABASE_URL.',
  '53300': 'Raise max_connections of the server, or lower SVC_DATABASE_POOL of the nodes.',
};

function unreached(url: string, error: unknown): Finding {
  const silence = silenceAt(url, error);
  if (silence !== undefined) return faulty('database', silence, sentence(silentRemedy));
  const { code = '', message } = error as NodeJS.ErrnoException;
  const says = `it cannot be reached: ${message || code || String(error)}`;
  return faulty(
    'database',
    says,
    remedies[sqlState(error) ?? code] ??
      (sqlState(error) === undefined
        ? 'Look whether PostgreSQL runs, and whether DATABASE_URL leads to it.'
        : 'The server answers, and lets nobody in: look into its log, and whether its disk is full.'),
  );
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

function judgeState(state: State, poolSize: number): Finding[] {
  const old = faultOfVersion(state.version);
  const free = state.most - state.used;
  return [
    old
      ? faulty('database', old, `Upgrade the server to PostgreSQL ${oldestPostgres} or later.`)
      : good('database', `PostgreSQL ${state.shown}, ${Math.ceil(state.bytes / 1_000_000)} MB`),
    ...(state.isReadOnly
      ? [
          faulty(
            'database',
            state.isReplica ? 'it is a replica and takes no changes' : 'it is set to read-only',
            state.isReplica
              ? 'Set DATABASE_URL to the primary, or promote the replica.'
              : 'Set default_transaction_read_only to off.',
          ),
        ]
      : []),
    free < poolSize
      ? warning(
          'connections',
          `${free} of ${state.most} connections are free, and a node takes up to ${poolSize}`,
          'Raise max_connections, lower SVC_DATABASE_POOL, or put a pooler in front.',
        )
      : good('connections', `${free} of ${state.most} are free`),
  ];
}

/** By this clock against that of the database. */
export function judgeClock(skewMs: number): Finding {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const says = `this clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} that of the database`;
  const remedy = 'Let both machines follow the same time servers (NTP).';
  if (Math.abs(skewMs) > mostSkewMs) return faulty('clock', `${says}; a node takes no work`, remedy);
  if (Math.abs(skewMs) > wrongSkewMs) return faulty('clock', says, remedy);
  return Math.abs(skewMs) > muchSkewMs ? warning('clock', says, remedy) : good('clock', says);
}

interface Refused {
  table: string;
  isRefused: boolean;
  isForeign: boolean;
}

function judgeRights({ role, schema, database, mayCreate }: State, tables: readonly Refused[]): Finding[] {
  const refused = tables.filter(({ isRefused }) => isRefused).map(({ table }) => table);
  const foreign = tables.filter(({ isForeign }) => isForeign).map(({ table }) => table);
  if (refused.length > 0)
    return [
      faulty(
        'role',
        `${role} may not read and write ${some(refused)}`,
        `As their owner: GRANT ALL ON ALL TABLES IN SCHEMA ${schema ?? 'public'} TO ${role}; or make ${role} their owner.`,
      ),
    ];
  if (foreign.length > 0)
    return [
      faulty(
        'role',
        `${role} does not own ${some(foreign)}, and cannot upgrade them`,
        `As a superuser: ALTER TABLE … OWNER TO ${role}.`,
      ),
    ];
  if (schema === null || !mayCreate)
    return [
      faulty(
        'role',
        `${role} may make no tables in ${database}`,
        `As the owner of the database: CREATE SCHEMA ${role} AUTHORIZATION ${role}.`,
      ),
    ];
  return [good('role', `${role} may do what svc needs in the schema ${schema}`)];
}

const some = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more tables` : names.join(', ');

/** Into a table that is gone with the transaction. */
async function tryToWrite(client: Client): Promise<Finding> {
  try {
    await client.query('BEGIN');
    await client.query(takeRoom);
    return good('disk of the database', 'it takes a megabyte');
  } catch (error) {
    const says = (error as Error).message;
    if (sqlState(error) === '42501')
      return good('disk of the database', 'not tried: the role makes no temporary tables');
    return faulty(
      'disk of the database',
      says,
      'Make room on the disk of PostgreSQL, and look into its log.',
    );
  } finally {
    await client.query('ROLLBACK').catch(() => undefined);
  }
}
