/** What is told of credentials that were set aside begins so; more says it no better where a file brings them to another server. */
export const asideWords =
  'These tokens were imported while the connection of the account had credentials that may work, and did not pass their trial:';

/**
 * SQL: whether the credentials of a row of `connection`, or of what is called `row`, were set aside by an import: nothing uses them.
 * Others that are brought have another generation, whichever release stores them.
 */
export const isAside = (row = ''): string => `(${row}aside_generation = ${row}generation) IS TRUE`;

/** SQL: the column of a row `r` that comes in from a file and gets the generation. */
export const asideIn = (generation: string): string =>
  `CASE WHEN r.status = 'bad_credentials' AND starts_with(r.status_detail, '${asideWords}') THEN ${generation} END`;
