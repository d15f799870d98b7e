-- compatible: former nodes insert turns as they did, which are then not marked.

-- Of a synchronous write that was accepted, or came to its turn, as started. What was numbered before it and was committed later waits
-- for it.
ALTER TABLE turn ADD COLUMN marked boolean NOT NULL DEFAULT false;
CREATE INDEX turn_marked ON turn (project_id, order_key) WHERE marked;
