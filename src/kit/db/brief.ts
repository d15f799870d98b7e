import { Connection } from './connection.ts';
import { connectionSettings } from './database.ts';
import { isUnanswered } from './faults.ts';

/** For questions at the start: a server, or a pooler that has no session to lend, may take a connection and answer nothing. */
export function briefConnection(url: string, applicationName: string, limitMs = 5_000): Connection {
  return new Connection({
    ...connectionSettings(url),
    application_name: applicationName,
    connectionTimeoutMillis: limitMs,
    query_timeout: limitMs,
  });
}

/** What whoever runs it can look at where nothing is answered. */
export const silentRemedy =
  'look whether PostgreSQL runs there and, where a pooler stands before it, whether it has a session to lend';

/** What says only that the time ran out, with the place; undefined for all else. */
export function silenceAt(url: string, error: unknown): string | undefined {
  if (!isUnanswered(error)) return undefined;
  const { host, searchParams } = new URL(url);
  return `${searchParams.get('host') ?? host} answers nothing (${(error as Error).message})`;
}

/** The same error, or one that names the place. It says as the first one that the database is away. */
export function placed(url: string, error: unknown): unknown {
  const silence = silenceAt(url, error);
  return silence === undefined ? error : new Error(`${silence}: ${silentRemedy}`);
}
