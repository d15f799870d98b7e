-- compatible: changes nothing but a function.

-- `svc_uuid_floor` takes a time before 1970 for its beginning, in migrations/functions/01-kit.sql.
