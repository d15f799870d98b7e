-- compatible: adds a table.

-- What each API key (or the front-end tokens of a project) has spent of its requests a second, where SVC_RATE_LIMIT_PER_KEY limits them. `spent_until` is when all that was
-- granted so far is earned; `granted` is the last grant. Nothing of it outlives a second, so no log is written for it.
CREATE UNLOGGED TABLE rate_limit (
  key_id text PRIMARY KEY,
  spent_until timestamptz NOT NULL,
  granted integer NOT NULL
) WITH (fillfactor = 50);
