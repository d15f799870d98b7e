-- What a record is found by, whatever the length of its id.
CREATE OR REPLACE FUNCTION svc_record_hash(id text) RETURNS bigint LANGUAGE sql IMMUTABLE RETURN hashtextextended(id, 0);

SELECT svc_ballast('idempotency', '{"principal": "''ballast''"}');
