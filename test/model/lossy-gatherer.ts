import { openDatabase, type Database, type Queryable } from '../../src/kit/db/database.ts';
import { asProblem } from '../../src/kit/db/faults.ts';
import { sleep } from '../../src/kit/retry.ts';
import { createGatherer, type Gatherer } from '../../src/actions/write/auto-batch/accept.ts';
import type { TestDatabase } from '../database.ts';

/**
 * What becomes of the statement that stores records, of which the node hears nothing: `lost` is done, `late` stands in the
 * server until it is let go, `never` does not reach it.
 */
export type Loss = 'lost' | 'late' | 'never';

/** The key that late statements wait for, once they have their view of what is stored. */
const gate = 4_711;

/** The product's own gatherer over a way to the database that loses answers as it is told. */
export interface LossyGatherer {
  gatherer: Gatherer;
  /** Of the next statements that store records; those that come after are answered. */
  losses: Loss[];
}

/** Statements that nobody waits for any more. */
export interface LateStatements {
  run(statement: Parameters<Queryable['rows']>[0], values: readonly unknown[]): void;
  /** Lets those go that stand in the server now. */
  letGo(): Promise<void>;
  close(): Promise<void>;
}

/** Has statements of sessions of its own stop where they store a record. */
export async function openLateStatements({ url, database }: TestDatabase): Promise<LateStatements> {
  await database.raw(`CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock_shared(${gate}); RETURN NEW; END $$`);
  await database.raw(`CREATE TRIGGER wait_at_gate BEFORE INSERT ON record FOR EACH ROW
    WHEN (current_setting('application_name') = 'late') EXECUTE FUNCTION wait_at_gate()`);
  const late = openDatabase({ url, poolSize: 8, applicationName: 'late' });
  const keeper = openDatabase({ url, poolSize: 1, applicationName: 'keeper of the gate' });
  const shut = () => keeper.raw('SELECT pg_advisory_lock($1)', [gate]);
  const open = () => keeper.raw('SELECT pg_advisory_unlock($1)', [gate]);
  await shut();
  let under: Promise<unknown>[] = [];
  return {
    run: (statement, values) =>
      void under.push(late.rows(statement, values).catch((error: unknown) => error)),
    async letGo() {
      const going = under;
      under = [];
      if (going.length === 0) return;
      await open();
      await Promise.all(going);
      await shut();
    },
    async close() {
      await open();
      await late.close();
      await keeper.close();
    },
  };
}

export function createLossyGatherer(database: Database, late: LateStatements): LossyGatherer {
  const losses: Loss[] = [];
  const rows: Queryable['rows'] = async (statement, values = []) => {
    const loss = statement.name === 'ab_insert' ? losses.shift() : undefined;
    if (loss === 'late') late.run(statement, values);
    if (loss === undefined || loss === 'lost') {
      const answer = await database.rows(statement, values);
      if (!loss) return answer as never;
    }
    // The statement reaches the server, and takes its view of what is stored, before the way is found broken.
    await sleep(20);
    throw asProblem(new Error('Connection terminated unexpectedly'));
  };
  return { gatherer: createGatherer({ ...database, rows }), losses };
}
