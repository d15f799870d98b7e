-- compatible: adds a column with a default and a small index, for which each day of messages is read once.

-- For how many days the project wants things kept, by kind; what it does not name is kept as the operator says. messages 0:
-- none of their content once they are delivered.
ALTER TABLE project ADD COLUMN keep_days jsonb NOT NULL DEFAULT '{}';

-- Records that fit no message are few.
CREATE INDEX message_linked ON message (project_id, id) WHERE result IS NOT NULL;
