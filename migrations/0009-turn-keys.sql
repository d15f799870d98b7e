-- compatible: rewrites rows in place; what older nodes insert is brought into the same form.

-- A turn is taken under a hash of what the record is known by: a long id was too much for the index, and failed everybody
-- whose row stood in the same statement.
CREATE FUNCTION svc_turn_key(order_key text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT left(encode(sha256(convert_to(order_key, 'UTF8')), 'hex'), 32)
$$;
CREATE FUNCTION svc_hash_turn() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.order_key := svc_turn_key(NEW.order_key);
  RETURN NEW;
END $$;
-- Only keys in clear have a slash. The trigger keeps others from inserting until the rows that stand are changed.
CREATE TRIGGER turn_hashed BEFORE INSERT ON turn FOR EACH ROW WHEN (NEW.order_key LIKE '%/%')
  EXECUTE FUNCTION svc_hash_turn();
UPDATE turn SET order_key = svc_turn_key(order_key) WHERE order_key LIKE '%/%';
