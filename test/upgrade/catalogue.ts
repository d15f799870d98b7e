import type { Database } from '../../src/kit/db/database.ts';

/** Takes the time out of the names of partitions, so that those of one table are one line. */
const timeless = (text: string): string => text.replaceAll(/_\d{6}(\d\d)?(?=_|\b)/g, '_N');

const ofPublic = `relnamespace = 'public'::regnamespace`;
const queries: Record<string, string> = {
  relation: `SELECT relname, relkind::text, relpersistence::text, reloptions FROM pg_class WHERE ${ofPublic}`,
  column: `SELECT relname, row_number() OVER (PARTITION BY attrelid ORDER BY attnum), attname, atttypid::regtype::text,
      attnotnull, attidentity::text, attstorage::text, pg_get_expr(adbin, adrelid)
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
      LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE ${ofPublic} AND relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped`,
  constraint: `SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace AND contype <> 'n'`,
  index: `SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'`,
  sequence: `SELECT sequencename, data_type::text, increment_by, cycle, cache_size FROM pg_sequences WHERE schemaname = 'public'`,
  function: `SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace`,
  trigger: `SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal`,
};

/** Everything that makes a schema, one line for each thing, but for how many partitions there are. */
export async function catalogueOf(database: Database): Promise<string[]> {
  const lines = await Promise.all(
    Object.entries(queries).map(async ([kind, query]) =>
      (await database.raw(query)).map((row) =>
        timeless(`${kind} ${Object.values(row).map(String).join(' ')}`),
      ),
    ),
  );
  return [...new Set(lines.flat())].toSorted();
}
