-- breaking: takes functions away that older nodes call.

-- Partitions are made by `svc_keep_partitions` for every table.
DROP FUNCTION IF EXISTS svc_ensure_partitions(timestamptz), svc_retire_defaults(bigint), svc_rotate_proxy_log(integer),
  svc_rotate_audit_log(integer), svc_rotate_messages(integer);
