import type {
  DeclaredKind,
  Delivered,
  DeliveryContext,
  DestinationKind,
  OpenDestination,
  OutgoingMessage,
} from '../kind.ts';
import { databaseDialerOf } from '../../kit/http/egress.ts';
import { failureOf, TableRefused, TimeIsOver, type Aim } from './failure.ts';
import { check, placeOf } from './check.ts';
import { tableName } from './names.ts';
import { rowsOf, type Rows } from './rows.ts';
import type { Session } from './session.ts';
import { PostgresMetadata, PostgresSecrets } from './schema.ts';
import { Sessions } from './sessions.ts';
import { lookAround, rollBack } from './store.ts';
import { keepRows } from './table.ts';

type Postgres = DestinationKind<PostgresMetadata, PostgresSecrets>;
type Destination = OpenDestination<PostgresMetadata, PostgresSecrets>;

const shape = {
  type: 'postgres',
  recordsOnly: true,
  metadata: PostgresMetadata,
  secrets: PostgresSecrets,
} as const;
const none: Rows = { rows: [], fieldOf: new Map() };

export const postgres: DeclaredKind = { ...shape, create: () => createPostgres() };

interface PostgresOptions {
  /** For one message, from the connection to the commit. */
  timeoutMs?: number;
}

/** Tables in a customer's PostgreSQL, one for each object, each row the newest version of a record. */
export function createPostgres({ timeoutMs = 30_000 }: PostgresOptions = {}): Postgres {
  const sessions = new Sessions();
  return {
    ...shape,
    check,
    shareOf({ url }) {
      const place = placeOf(url);
      return 'fault' in place ? url : `${place.host}:${place.port}`;
    },
    deliver: (message, destination, context) =>
      deliver({ sessions, timeoutMs }, message, destination, context),
    close: () => sessions.close(),
  };
}

async function deliver(
  { sessions, timeoutMs }: { sessions: Sessions; timeoutMs: number },
  message: OutgoingMessage,
  { metadata, secrets }: Destination,
  context: DeliveryContext,
): Promise<Delivered> {
  const place = placeOf(metadata.url);
  if ('fault' in place) return { kind: 'failed', error: `metadata.url ${place.fault}.` };
  const aim: Aim = {
    access: { ...place, password: secrets.password },
    schema: metadata.schema,
    table: tableName(metadata.tablePrefix ?? '', message.object),
  };
  const limit = limited(context.signal, timeoutMs);
  try {
    const { keys } = message;
    const rows =
      keys.length === 0
        ? none
        : rowsOf((await message.result()).toString('utf8'), keys, await message.mappedFields());
    if (!rows) return { kind: 'failed', error: 'The message does not hold the records that it tells of.' };
    const isSent = await onSession(sessions, aim, context, limit.signal, (session) =>
      rows.rows.length === 0 ? tryOut(session, aim) : keep(session, aim, message, rows),
    );
    return { kind: isSent ? 'delivered' : 'unsent' };
  } catch (error) {
    if (context.signal.aborted) return { kind: 'unsent' };
    return failureOf(limit.signal.aborted ? limit.signal.reason : error, aim);
  } finally {
    limit.end();
  }
}

/** Whether the work was done. A connection that was lost at rest is replaced: nothing that is done here does harm twice. */
async function onSession(
  sessions: Sessions,
  { access }: Aim,
  { ground, mayStillSend }: DeliveryContext,
  signal: AbortSignal,
  work: (session: Session) => Promise<void>,
): Promise<boolean> {
  for (;;) {
    let used: Session | undefined;
    try {
      return await sessions.use(access, databaseDialerOf(ground.egress), signal, async (session) => {
        used = session.isUsed ? session : undefined;
        if (!mayStillSend()) return false;
        await work(session);
        return true;
      });
    } catch (error) {
      if (!used?.isBroken || signal.aborted) throw error;
    }
  }
}

async function keep(session: Session, aim: Aim, message: OutgoingMessage, rows: Rows): Promise<void> {
  const { installationId, groupRef, seq } = message;
  try {
    await keepRows(session, aim, { installationId, groupRef, seq }, rows);
  } catch (error) {
    await rollBack(session).catch(() => session.destroy());
    throw error;
  }
}

/** A message without records asks whether there could be some. */
async function tryOut(session: Session, { schema, access }: Aim): Promise<void> {
  const { mayWrite, isReadOnly } = await lookAround(session, schema);
  if (isReadOnly) {
    throw new TableRefused(
      'The database can only be read: metadata.url must lead to a server that takes writes',
    );
  }
  if (mayWrite) return;
  throw new TableRefused(
    `The user ${JSON.stringify(access.user)} may not make tables in the schema ${JSON.stringify(schema)}: grant it USAGE and CREATE`,
  );
}

function limited(outer: AbortSignal, timeoutMs: number): { signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new TimeIsOver(`The database did not answer within ${timeoutMs / 1_000} s`));
  }, timeoutMs);
  const stop = (): void => controller.abort(outer.reason);
  outer.addEventListener('abort', stop, { once: true });
  if (outer.aborted) stop();
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer);
      outer.removeEventListener('abort', stop);
    },
  };
}
