/**
 * SQL: the time as of which a row of `connection` is known that is changed now, always later than what it was known as of: where
 * the clock of another server is ahead, what happens after a hand-over still counts as later than it.
 */
export const nextAsOf = `greatest(svc_now(), as_of + interval '1 microsecond')`;

/** SQL: when a row of `connection` is signed in that is signed in now, later than its last sign-in at whatever server. */
export const nextSignIn = `greatest(svc_now(), signed_in_at + interval '1 microsecond')`;

/** SQL: how new the credentials of a row are: the newest sign-in, and of one sign-in the newest token. */
const newnessOf = (row: string): string =>
  `(coalesce(${row}.signed_in_at, '-infinity'), coalesce(${row}.access_issued_at, '-infinity'))`;

/** SQL: whether the row `t` is used here. One that is moved has the status of a dead one. */
export const isUsed = `t.status <> 'bad_credentials'`;

/**
 * SQL: whether the row `r` of a file comes in place of the row `t` that is here. It does where it was handed over after all that
 * is known of it here, and where nothing ends that works: neither what died there nor what is older replaces what is used here. The
 * times are those of the servers' databases; what a server counts for itself is not compared.
 */
export const isHandedOver = `r.moved_at IS NOT NULL AND r.as_of > t.as_of AND (NOT ${isUsed}
  OR (r.status <> 'bad_credentials' AND ${newnessOf('r')} >= ${newnessOf('t')}))`;

/** SQL: how the row `r` of a file, which is left, was known where it was made: handed over by it, or later or earlier than here. */
export const howKnown = `CASE WHEN r.moved_at IS NOT NULL THEN 'handed' WHEN r.as_of > t.as_of THEN 'later' ELSE 'earlier' END`;

/** SQL: the status of a row of `connection`, or of what is called `row`, where it is used. One that worked is tried there. */
export const handedStatus = (row = ''): string =>
  `CASE WHEN ${row}moved_at IS NULL OR ${row}moved_dead THEN ${row}status ELSE 'created' END`;
/** SQL: what there is to say of it. */
export const handedDetail = (row = ''): string =>
  `CASE WHEN ${row}moved_at IS NULL OR ${row}moved_dead THEN ${row}status_detail END`;
