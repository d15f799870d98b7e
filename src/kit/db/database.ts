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
import { Problem } from '../problem.ts';
import { sleep } from '../retry.ts';
import {
  asProblem,
  conflictStates,
  isDatabaseAway,
  isOutage,
  isRefused,
  isUnsaid,
  NotAsked,
  originOf,
  refusingStates,
  sqlState,
} from './faults.ts';
import { parameter } from './array-text.ts';
import { Connection, keepAliveMs } from './connection.ts';
import { noteDone } from './deeds.ts';
import { createNotices, type Notices } from './notices.ts';
import { watchOutage, type OutageHooks, type OutageWatch } from './outage.ts';
import { takeRoom } from './room.ts';
import { followsNames } from './pooler.ts';
import { askAlone, Silence } from './silence.ts';
import type { Statement } from './statement.ts';

/** Anything that runs statements: the pool, or one open transaction. */
export interface Queryable {
  rows<Row>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
  /** Tells those who look at the project of a change; in a transaction once that is, or may be, committed. */
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
  /** For how long it has not answered, or has taken no changes, in milliseconds; 0 while it does. */
  awayMs(): number;
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
/** A session that rests is kept: a new one reads the catalogue and plans each of its statements again. */
const idleMs = 5 * 60_000;
export const statementTimeoutMs = 30_000;
/** How often a statement that a conflict rolled back is made in all. */
const conflictTries = 4;

/** Not the lock of rows that are read. */
const changing = /\b(INSERT INTO|(?<!FOR |FOR NO KEY )UPDATE|DELETE FROM)\b/;

/** State that the statements of one pool share. */
interface Wire {
  silence: Silence;
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
/**
 * Machine code for a plan that is believed to be expensive takes thirty times as long to make as our plans take to run. And each statement is planned
 * once for a session: left to itself, PostgreSQL plans some of them at each call, which takes longer than they do.
 */
const planning = '-c jit=off -c plan_cache_mode=force_generic_plan';

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
  const pool = openPool(options, isPooled);
  const notices = createNotices(directUrl);
  const tryChange = (): Promise<void> =>
    inTransaction(pool, wire, async (client) => void (await ask(client, wire, { text: takeRoom }))).catch(
      (error: unknown) => {
        if (!isRefused(error)) throw error;
      },
    );
  const wire: Wire = {
    silence: new Silence({
      ask: () => askAlone(connectionSettings(url)),
      onSilent: (error) => wire.outage.failed(error, 'silent'),
      onAnswer: () => wire.outage.answered(wire.outage.now()),
    }),
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
    rows: (statement, values) => run({ client: pool, wire, onChange: noteDone }, statement, values),
    raw: async (text, values) => {
      const result = await guarded(() => watched(wire, () => pool.query(text, values as unknown[])));
      return (result.rows ?? []) as Record<string, unknown>[];
    },
    async transaction(work) {
      const changes: Parameters<Tell>[] = [];
      const tell: Tell = (...change) => void changes.push(change);
      let isChange = false;
      const onChange = (): void => void (isChange = true);
      const tellAll = (): void => changes.forEach((change) => told(...change));
      const result = await inTransaction(pool, wire, (client) =>
        work({ rows: (statement, values) => run({ client, wire, onChange }, statement, values), tell }),
      ).catch((error: unknown) => {
        // It may be committed.
        if (error instanceof Problem && isUnsaid(error)) tellAll();
        throw error;
      });
      if (isChange) noteDone();
      tellAll();
      return result;
    },
    pool: () => ({ size: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    refusal: () => wire.outage.refusal(),
    awayMs: () => wire.outage.lastsMs(),
    async close() {
      wire.outage.close();
      wire.silence.close();
      await notices.close();
      await pool.end();
    },
  };
}

/** Connects lazily. */
function openPool({ url, poolSize, applicationName, onIdleError }: DatabaseOptions, isPooled: boolean): Pool {
  const pool = new Pool({
    Client: Connection,
    ...connectionSettings(url),
    max: poolSize,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleMs,
    ...(isPooled ? {} : { ...sessionLimits, options: planning }),
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
    types,
  });
  // Without a listener an idle client's death would end the process.
  pool.on('error', (error) => onIdleError?.(error));
  return pool;
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
  const client = await guarded(async () => {
    refuseIfSilent(wire);
    return watched(wire, () => connect(pool, wire), 'connection');
  });
  let broken: Error | undefined;
  let isEnding = false;
  // The pool listens to idle clients only; unheard, the loss of this one would end the process.
  const onLoss = (error: Error): void => {
    broken = error;
  };
  client.on('error', onLoss);
  try {
    await ask(client, wire, { text: wire.begin });
    const result = await work(client);
    isEnding = true;
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
    throw asProblem(error, isEnding);
  } finally {
    client.off('error', onLoss);
    client.release(broken);
  }
}

/** A client of the pool. Where it comes after all when nobody waits any more, it goes back. */
async function connect(pool: Pool, { silence }: Wire): Promise<PoolClient> {
  const connecting = pool.connect();
  try {
    return await silence.unlessSilent(() => connecting);
  } catch (error) {
    connecting.then((client) => client.release()).catch(() => undefined);
    throw error;
  }
}

/** One query with its time limit. `pg` takes a limit with each query; its types do not say so. */
async function ask(client: Pool | PoolClient, wire: Wire, query: QueryConfig): Promise<QueryResult> {
  const { silence } = wire;
  if (client instanceof Pool) refuseIfSilent(wire);
  const isBegin = query.text === wire.begin || query.text === 'ROLLBACK';
  const limited = { ...query, query_timeout: silence.limitMs } as QueryConfig;
  return watched(
    wire,
    () => silence.watch(() => client.query(limited)),
    isBegin ? 'connection' : 'statement',
  );
}

/** Nothing is sent to a database that answers nobody. */
function refuseIfSilent({ silence }: Wire): void {
  const refusal = silence.refusal;
  if (refusal !== undefined) throw new NotAsked('the database answers nobody', { cause: refusal });
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

/** Whether the statement made a change that somebody asked for. */
function hasChanged(statement: Statement, { command, rowCount }: QueryResult): boolean {
  // One with others inside, which may have changed rows, begins with WITH.
  const isWithout = rowCount === 0 && statement.text.startsWith(command);
  return mayChange(statement) && !isWithout;
}

const changers = new WeakMap<Statement, boolean>();

/** Looked for in a text once: some are long, and run thousands of times a second. */
function mayChange(statement: Statement): boolean {
  const known = changers.get(statement) ?? (!statement.isNote && changing.test(statement.text));
  changers.set(statement, known);
  return known;
}

interface Running {
  client: Pool | PoolClient;
  wire: Wire;
  onChange: () => void;
}

async function run<Row>(
  { client, wire, onChange }: Running,
  statement: Statement,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { prepares } = wire;
  const { name, text } = statement;
  // What a transaction does stands when it is committed.
  const isAlone = client instanceof Pool;
  const result = await guarded(
    async () => {
      const isNamed = prepares === true || (await prepares());
      const query = { ...(isNamed ? { name } : {}), text, values: values.map(parameter) };
      for (let attempt = 1; ; attempt++) {
        try {
          return await ask(client, wire, query);
        } catch (error) {
          // A single statement was rolled back whole. A transaction must be repeated by its owner.
          if (!isAlone || attempt === conflictTries || !conflictStates.test(sqlState(error) ?? ''))
            throw error;
          await sleep(Math.random() * 20 * 2 ** attempt);
        }
      }
    },
    isAlone && mayChange(statement),
  );
  if (hasChanged(statement, result)) onChange();
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

/** `isChange`: the work is a statement that changes something by itself. */
async function guarded<T>(work: () => Promise<T>, isChange = false): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asProblem(error, isChange);
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
