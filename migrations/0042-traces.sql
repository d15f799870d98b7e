-- compatible: adds columns that may be empty.

-- Where a trace goes on: the W3C traceparent of what queued the work, or recorded the event that others are told of. Empty while
-- nothing is traced, and then it takes no room.
ALTER TABLE work ADD COLUMN trace text;
ALTER TABLE event ADD COLUMN trace text;
