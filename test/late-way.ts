import { vi } from 'vitest';
import type { Database, Queryable } from '../src/kit/db/database.ts';
import { asProblem } from '../src/kit/db/faults.ts';

/** A way to the database that may hold statements up. */
export interface LateWay {
  database: Database;
  /** The statements with such a name do not arrive, and who asked hears that the connection is lost. */
  holdUp(name: RegExp): void;
  /** Those held up arrive, so long after they were asked that a caller in doubt has asked again. Answers how many there were. */
  letArrive(): Promise<number>;
}

/** By then a caller in doubt may have looked and asked again. */
const lateByMs = 60_000;

export function openLateWay(database: Database): LateWay {
  let isHeld: RegExp | undefined;
  let late: { mockRestore(): void } | undefined;
  let held: Parameters<Queryable['rows']>[] = [];
  const clock = performance.now.bind(performance);
  const rows: Queryable['rows'] = async (statement, values = []) => {
    if (!isHeld?.test(statement.name)) return database.rows(statement, values);
    held.push([statement, values]);
    throw asProblem(new Error('Connection terminated unexpectedly'));
  };
  return {
    database: { ...database, rows },
    // In place of the wait: what is asked from now on was asked a minute ago.
    holdUp(name) {
      isHeld = name;
      late = vi.spyOn(performance, 'now').mockImplementation(() => clock() - lateByMs);
    },
    async letArrive() {
      isHeld = undefined;
      late?.mockRestore();
      const arriving = held;
      held = [];
      for (const [statement, values] of arriving) await database.rows(statement, values);
      return arriving.length;
    },
  };
}
