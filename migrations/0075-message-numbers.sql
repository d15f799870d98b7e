-- compatible: former nodes take the numbers as they find them.

-- A row of a customer's table is written by a later message alone, and a project comes here from servers that have numbered more
-- messages. Numbers go on from the time of this database, in microseconds: so many messages are never made.
SELECT setval('message_seq', greatest(last_value, floor(extract(epoch FROM clock_timestamp()) * 1000000)::bigint)) FROM message_seq;
