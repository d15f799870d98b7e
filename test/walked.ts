import type { Database } from '../src/kit/db/database.ts';
import { declaredStatements } from '../src/kit/db/statement.ts';

/** The most rows that a step of a statement's plan goes through, in one of its loops. */
export async function mostWalked(
  database: Pick<Database, 'raw'>,
  name: string,
  values: unknown[],
): Promise<number> {
  const text = declaredStatements().find((one) => one.name === name)?.text;
  if (text === undefined) throw new Error(`there is no statement ${name}`);
  const plan = await database.raw(
    `EXPLAIN (ANALYZE, COSTS OFF, BUFFERS OFF, TIMING OFF, SUMMARY OFF) ${text}`,
    values,
  );
  const lines = plan.map((row) => String(row['QUERY PLAN'])).join('\n');
  const counts = [...lines.matchAll(/(?:actual rows=|Removed by \w+(?: \w+)*: )(\d+)/g)];
  return Math.max(...counts.map(([, count]) => Number(count)));
}
