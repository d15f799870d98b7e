import type { Database } from './database.ts';

/** For how long callers in doubt are told to wait: by then what they asked is stored, or never will be. */
export const settledAfter = 'a minute';

/**
 * A statement that begins later than this after it was asked stores nothing: on a way that was cut for a while it arrives when its
 * caller has asked again. It takes 30 s at the most (`statement_timeout`), so that all is over within the minute.
 */
const beginsWithinMs = 25_000;
/** Then the time is asked for anew: the database's clock may be set, and two clocks drift. */
const knownForMs = 5 * 60_000;

/** What is known of the time of a database. The clock of the node says nothing of it. */
interface KnownTime {
  /** By the database's clock, less the monotonic one here. */
  offsetMs: number;
  /** Monotonic. */
  heardAt: number;
}

const known = new Map<string, KnownTime>();

/** Of which the time is known by its URL. */
export type TimedDatabase = Pick<Database, 'url' | 'rows'>;

/** Notes what the database's clock said, in milliseconds since the epoch, when its answer is here. */
export function noteTime({ url }: TimedDatabase, nowMs: number): void {
  const heardAt = performance.now();
  known.set(url, { offsetMs: nowMs - heardAt, heardAt });
}

/** By the database's clock, until when a statement that is asked now may begin. */
function latestBegin({ url }: TimedDatabase): number | null {
  const time = known.get(url);
  const now = performance.now();
  return time && now - time.heardAt < knownForMs ? time.offsetMs + now + beginsWithinMs : null;
}

/**
 * The CTE `clock(now, in_time)` of a statement for {@link askInTime}, which must store nothing unless `in_time`; `limit` is the
 * number of its parameter. By the clock itself: tests move svc_now(), and now() is the time of the first message.
 */
export const clockUntil = (limit: number): string => `clock AS MATERIALIZED (
    SELECT svc_now() AS now, coalesce(clock_timestamp() <= to_timestamp($${limit}::float8 / 1000), false) AS in_time)`;

/** The row of a statement that came too late, after so many columns of the others; their last one, "lateAt", is null. */
export const orLate = (columns: number): string =>
  `UNION ALL SELECT ${'NULL, '.repeat(columns)}extract(epoch FROM clock_timestamp())::float8 * 1000 FROM clock WHERE NOT in_time`;

/** Asks a statement with {@link clockUntil}. One that stored nothing, since it was late or the time not known, tells the time and is asked again. */
export async function askInTime<Row>(
  db: TimedDatabase,
  ask: (latestBeginMs: number | null) => Promise<(Row & { lateAt: number | null })[]>,
): Promise<Row[]> {
  for (;;) {
    const rows = await ask(latestBegin(db));
    const lateAt = rows[0]?.lateAt ?? null;
    if (lateAt === null) return rows;
    noteTime(db, lateAt);
  }
}
