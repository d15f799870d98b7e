import {
  DatabaseError,
  Pool,
  types as defaultTypes,
  type ClientConfig,
  type CustomTypesConfig,
  type PoolClient,
  type QueryConfig,
  type QueryResult,
} from 'pg';
import type { Change } from '../changes/wire.ts';
import { parseJson } from '../json.ts';
import { Problem, problem } from '../problem.ts';
import { sleep } from '../retry.ts';
import { createNotices, type Notices } from './notices.ts';
import { watchOutage, type OutageHooks, type OutageWatch } from './outage.ts';
import { takeRoom } from './room.ts';
import { followsNames } from './pooler.ts';
import type { Statement } from './statement.ts';

/** Anything that runs statements: the pool, or one open transaction. */
export interface Queryable {
  rows<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
  /** Tells those who look at the project of a change; in a transaction once that is committed. */
  tell(projectId: string, change: Change): void;
}

type Tell = Queryable['tell'];

/** The database as the rooms see it. Every failure to reach it is the problem `database-unavailable`. */
export interface Database extends Queryable {
  readonly url: string;
  /** Leads to the server itself, past any pooler, for what needs a session of its own. */
  readonly directUrl: string;
  /** On a connection of its own to the server itself. */
  readonly notices: Notices;
  /** Who is told of changes; nobody unless this is called. */
  onTold(listener: Tell): void;
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Runs SQL that is not hot and not prepared (migrations, VACUUM, tests). */
  raw(text: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>;
  /** Its connections now: all, those at rest, and the statements that wait for one. */
  pool(): PoolState;
  /** Why the database takes no changes now, although it answers; undefined while it takes them, as far as is known. */
  refusal(): unknown;
  close(): Promise<void>;
}

export interface PoolState {
  size: number;
  idle: number;
  waiting: number;
}

export interface DatabaseOptions extends OutageHooks {
  /** May lead to a pooler that hands out sessions by the transaction, if `directUrl` is given. */
  url: string;
  directUrl?: string | undefined;
  /** Connections of this process at the most. */
  poolSize: number;
  applicationName: string;
  onIdleError?: (error: Error) => void;
  /** The pooler does not follow prepared statements: they are planned anew each time. */
  onUnprepared?: () => void;
}

const connectTimeoutMs = 5_000;
const statementTimeoutMs = 30_000;
/** The only sign of a server that is gone without closing the connection. Not for `raw`, which may take long. */
const answerTimeoutMs = 10_000;
/** After one unanswered statement the next ones wait less, until one is answered. */
const silentTimeoutMs = 2_000;
/** How often a statement that a conflict rolled back is made in all. */
const conflictTries = 4;

/** State that the statements of one pool share. */
interface Wire {
  isSilent: boolean;
  outage: OutageWatch;
  begin: string;
  /** Whether statements are prepared under their names. */
  prepares: true | (() => Promise<boolean>);
}

// Start-up parameters are of the session: a pooler refuses them, and what is set in one of its sessions stays there for
// others. There the limits hold in transactions; a single statement has the one of its role.
const sessionLimits = {
  statement_timeout: statementTimeoutMs,
  idle_in_transaction_session_timeout: statementTimeoutMs,
};
const beginWithLimits = [
  'BEGIN',
  ...Object.entries(sessionLimits).map((pair) => `SET LOCAL ${pair.join(' = ')}`),
].join('; ');
/** Machine code for a plan that is believed to be expensive takes thirty times as long to make as our plans take to run. */
const withoutJit = '-c jit=off';

// Numbers in JSON stay as they were stored.
const types: CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === defaultTypes.builtins.JSON || oid === defaultTypes.builtins.JSONB
      ? (text: string) => parseJson(text)
      : (defaultTypes.getTypeParser(oid, format) as (text: string) => unknown),
};

/** Opens a pool. Connects lazily: an unreachable database shows at the first statement. */
export function openDatabase(options: DatabaseOptions): Database {
  const { url, directUrl = url } = options;
  const isPooled = directUrl !== url;
  const pool = new Pool({
    ...connectionSettings(url),
    max: options.poolSize,
    application_name: options.applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(isPooled ? {} : { ...sessionLimits, options: withoutJit }),
    keepAlive: true,
    types,
  });
  // Without a listener an idle client's death would end the process.
  pool.on('error', (error) => options.onIdleError?.(error));
  const notices = createNotices(directUrl);
  const tryChange = (): Promise<void> =>
    inTransaction(pool, wire, async (client) => void (await ask(client, wire, { text: takeRoom }))).catch(
      (error: unknown) => {
        if (!isRefused(error)) throw error;
      },
    );
  const wire: Wire = {
    isSilent: false,
    outage: watchOutage(options, { tryChange }),
    begin: isPooled ? beginWithLimits : 'BEGIN',
    prepares: isPooled ? onceKnown(() => followsNames(pool), options.onUnprepared) : true,
  };
  let told: Tell = () => undefined;
  return {
    url,
    directUrl,
    notices: { ...notices, notify: (...message) => ownSession(() => notices.notify(...message)) },
    tell: (projectId, change) => told(projectId, change),
    onTold: (listener) => void (told = listener),
    rows: (statement, values) => run(pool, wire, statement, values),
    raw: async (text, values) => {
      const result = await guarded(() => watched(wire, () => pool.query(text, values as unknown[])));
      return (result.rows ?? []) as Record<string, unknown>[];
    },
    async transaction(work) {
      const changes: Parameters<Tell>[] = [];
      const tell: Tell = (...change) => void changes.push(change);
      const result = await inTransaction(pool, wire, (client) =>
        work({ rows: (statement, values) => run(client, wire, statement, values), tell }),
      );
      for (const change of changes) told(...change);
      return result;
    },
    pool: () => ({ size: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    refusal: () => wire.outage.refusal(),
    async close() {
      wire.outage.close();
      await notices.close();
      await pool.end();
    },
  };
}

/** A Unix socket directory travels as `?host=/dir`, which `pg` reads from the URL itself. */
export function connectionSettings(url: string): ClientConfig {
  return { connectionString: url };
}

async function inTransaction<T>(
  pool: Pool,
  wire: Wire,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await guarded(() => watched(wire, () => pool.connect(), 'connection'));
  let broken: Error | undefined;
  // The pool listens to idle clients only; unheard, the loss of this one would end the process.
  const onLoss = (error: Error): void => {
    broken = error;
  };
  client.on('error', onLoss);
  try {
    await ask(client, wire, { text: wire.begin });
    const result = await work(client);
    const end = await ask(client, wire, { text: 'COMMIT' });
    // PostgreSQL answers COMMIT with ROLLBACK, without an error, when a statement had failed and `work` went on.
    if (end.command !== 'COMMIT')
      throw new Error('the transaction was rolled back: a statement in it had failed');
    return result;
  } catch (error) {
    if (isDatabaseAway(error) && !(originOf(error) instanceof DatabaseError))
      broken ??= new Error('the connection was lost', { cause: error });
    else
      await ask(client, wire, { text: 'ROLLBACK' }).catch((rollbackError: Error) => (broken = rollbackError));
    throw asProblem(error);
  } finally {
    client.off('error', onLoss);
    client.release(broken);
  }
}

/** One query with its time limit. `pg` takes a limit with each query; its types do not say so. */
async function ask(client: Pool | PoolClient, wire: Wire, query: QueryConfig): Promise<QueryResult> {
  const query_timeout = wire.isSilent ? silentTimeoutMs : answerTimeoutMs;
  try {
    const isBegin = query.text === wire.begin || query.text === 'ROLLBACK';
    const work = () => client.query({ ...query, query_timeout } as QueryConfig);
    const result = await watched(wire, work, isBegin ? 'connection' : 'statement');
    wire.isSilent = false;
    return result;
  } catch (error) {
    // One lost connection says nothing about the others.
    if (isUnanswered(error)) wire.isSilent = true;
    else if (error instanceof DatabaseError) wire.isSilent = false;
    throw error;
  }
}

/** Notes whether the database answers and takes changes. A connection, and a transaction that begins, are given to a role without any right, too. */
async function watched<T>(
  { outage }: Wire,
  work: () => Promise<T>,
  what: 'connection' | 'statement' = 'statement',
): Promise<T> {
  const before = outage.now();
  try {
    const result = await work();
    if (what === 'statement') outage.answered(before);
    return result;
  } catch (error) {
    if (isOutage(error))
      outage.failed(error, refusingStates.has(sqlState(error) ?? '') ? 'refusing' : 'silent');
    throw error;
  }
}

/** Whether the error, or what it comes from, is that a statement was sent and nothing came back in time. */
export function isUnanswered(error: unknown): boolean {
  const origin = originOf(error);
  return (
    origin instanceof Error && /Query read timeout|timeout expired|connection timeout/i.test(origin.message)
  );
}

/** Whether the error, or what it comes from, is that no connection could be had: the statement was not sent. */
export function isUnreached(error: unknown): boolean {
  const origin = originOf(error);
  if (!(origin instanceof Error)) return false;
  const code = 'code' in origin && typeof origin.code === 'string' ? origin.code : '';
  return unreachedCodes.has(code) || /timeout exceeded when trying to connect/i.test(origin.message);
}

async function run<Row>(
  client: Pool | PoolClient,
  wire: Wire,
  statement: Statement,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { prepares } = wire;
  const { name, text } = statement;
  const result = await guarded(async () => {
    const isNamed = prepares === true || (await prepares());
    const query = { ...(isNamed ? { name } : {}), text, values: values as unknown[] };
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask(client, wire, query);
      } catch (error) {
        // A single statement was rolled back whole. A transaction must be repeated by its owner.
        const isAlone = client instanceof Pool;
        if (!isAlone || attempt === conflictTries || !conflictStates.test(sqlState(error) ?? '')) throw error;
        await sleep(Math.random() * 20 * 2 ** attempt);
      }
    }
  });
  return result.rows as Row[];
}

/** Asks until there is an answer, and then never again. */
function onceKnown(question: () => Promise<boolean>, onNo: (() => void) | undefined): () => Promise<boolean> {
  let known: Promise<boolean> | undefined;
  return () => {
    known ??= question().then((yes) => {
      if (!yes) onNo?.();
      return yes;
    });
    known.catch(() => (known = undefined));
    return known;
  };
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asProblem(error);
  }
}

/** For work on a session of its own: that the database is away is the same problem as in the pool. What it refuses there is not. */
export async function ownSession<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isDatabaseAway(error) && isOutage(error) ? asProblem(error) : error;
  }
}

const unreachedCodes = new Set(['ECONNREFUSED', 'ENOENT', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH']);
const networkCodes = new Set([...unreachedCodes, 'ECONNRESET', 'ETIMEDOUT', 'EPIPE']);
// 08 connection, 57P0x shutdown and crash, 53 out of disk, memory or connections, 58 trouble of the system below, 25006
// read-only: a replica, or a server that was told so (PostgreSQL, appendix A).
const awayStates = /^(08...|25006|53...|57P0[1-5]|58...)$/;
/** Those of them with which what is asked is answered. */
const refusingStates = new Set(['25006', '53100']);
// 28 the role or its password, 3D000 and 3F000 no such database or schema, 42501 no right; without a right to the schema no table (42P01),
// function (42883) or type (42704) of it is there.
const refusedStates = /^(28...|3D000|3F000|42501|42P01|42704|42883)$/;
// 40 rolled back by a conflict, 55P03 a lock not free, 57014 cancelled: another time the same statement may pass.
// Of class 40 only those that say that nothing was done: 40003 leaves it open.
const conflictStates = /^(40001|40P01|55P03)$/;
const passingStates = /^(40...|55P03|57014)$/;
// 22 a value, 23 a constraint, 54 a limit of the server such as the size of an index entry.
const dataStates = /^(22|23|54)...$/;

/**
 * What an error says about the statement: `unable` would have met any; `data` is the fault of a value in it; `other` nobody
 * expects, and it may be the fault of one row.
 */
export function faultOf(error: unknown): 'unable' | 'data' | 'other' {
  if (isDatabaseAway(error)) return 'unable';
  return dataStates.test(sqlState(error) ?? '') ? 'data' : 'other';
}

/** Whether the error, or what it comes from, is that the database lets this role do nothing, whatever the statement. */
export function isRefused(error: unknown): boolean {
  return refusedStates.test(sqlState(originOf(error)) ?? '');
}

/** Whether the error says that the database cannot be reached or changed now, rather than that the statement was wrong. */
export function isDatabaseAway(error: unknown): boolean {
  if (error instanceof Problem) return error.code === 'database-unavailable';
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (networkCodes.has(code) || awayStates.test(code) || passingStates.test(code)) return true;
  return /Connection terminated|timeout exceeded when trying to connect|timeout expired|Query read timeout|Client was closed|not queryable/i.test(
    error.message,
  );
}

/** Whether it is away for everybody, rather than that a conflict or a limit kept one statement from being made. */
export function isOutage(error: unknown): boolean {
  return (isDatabaseAway(error) || isRefused(error)) && !passingStates.test(sqlState(originOf(error)) ?? '');
}

/** Whether the database takes no changes: a replica, or set so. */
export function isReadOnly(error: unknown): boolean {
  // A replica does not tell its place in the log either.
  return ['25006', '55000'].includes(sqlState(error) ?? '');
}

/** The SQLSTATE of a PostgreSQL error, or undefined. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof DatabaseError ? error.code : undefined;
}

/** A unique value that another row has. */
export function isTaken(error: unknown): boolean {
  return sqlState(error) === '23505';
}

function originOf(error: unknown): unknown {
  return error instanceof Problem ? error.cause : error;
}

function asProblem(error: unknown): unknown {
  if (error instanceof Error && /unsupported startup parameter/.test(error.message)) {
    return new Error(
      'DATABASE_URL leads to a pooler that keeps no sessions: set SVC_DATABASE_DIRECT_URL to a URL that leads to the server itself',
      { cause: error },
    );
  }
  return (isDatabaseAway(error) || isRefused(error)) && !(error instanceof Problem)
    ? problem('database-unavailable', { cause: error })
    : error;
}
