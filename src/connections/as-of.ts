/**
 * SQL: the time as of which a row of `connection` is known that is changed now, always later than what it was known as of: where
 * the clock of another server is ahead, what happens after a hand-over still counts as later than it.
 */
export const nextAsOf = `greatest(svc_now(), as_of + interval '1 microsecond')`;

/** SQL: when a row of `connection` is signed in that is signed in now, later than its last sign-in at whatever server. */
export const nextSignIn = `greatest(svc_now(), signed_in_at + interval '1 microsecond')`;

/**
 * SQL: whether the row `r` of a file comes in place of the row `t` that is here. It does where it was handed over after all that
 * is known of it here, and where nothing ends that works: what died there replaces nothing that is used here. The times are those
 * of the servers' databases; what a server counts for itself is not compared.
 */
export const isHandedOver = `r.moved_at IS NOT NULL AND r.as_of > t.as_of
  AND (r.status <> 'bad_credentials' OR t.status = 'bad_credentials')`;

/** SQL: the status of a row of `connection`, or of what is called `row`, where it is used. One that worked is tried there. */
export const handedStatus = (row = ''): string =>
  `CASE WHEN ${row}moved_at IS NULL OR ${row}moved_dead THEN ${row}status ELSE 'created' END`;
/** SQL: what there is to say of it. */
export const handedDetail = (row = ''): string =>
  `CASE WHEN ${row}moved_at IS NULL OR ${row}moved_dead THEN ${row}status_detail END`;
