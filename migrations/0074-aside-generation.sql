-- compatible: adds a column that may be NULL. An older node that brings other credentials counts the generation on, by which they are aside no more.

-- The generation of credentials that an import set aside, beside those of the account that may work: nothing uses them.
ALTER TABLE connection ADD COLUMN aside_generation bigint;
UPDATE connection SET aside_generation = generation WHERE status = 'bad_credentials' AND starts_with(status_detail,
  'These tokens were imported while the connection of the account had credentials that may work, and did not pass their trial:');
