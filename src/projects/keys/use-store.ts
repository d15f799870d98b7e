import { statement, type Statement } from '../../kit/db/statement.ts';

/** Notes in a table of keys when each was used last, at most once a minute; `ages` in milliseconds. */
export const touching = (table: 'api_key' | 'jwt_key'): Statement =>
  statement(
    `${table}s_touch`,
    `UPDATE ${table} k SET last_used_at = svc_now() - used.age * interval '1 ms'
   FROM unnest($1::text[], $2::float8[]) AS used(id, age)
   WHERE k.id = used.id AND coalesce(k.last_used_at < svc_now() - interval '1 minute', true)`,
  );
