-- breaking: renames tables and a column, and takes functions away.

-- Each table is named for one of its rows. `group` is a word of SQL.
ALTER TABLE projects RENAME TO project;
ALTER INDEX projects_pkey RENAME TO project_pkey;
ALTER INDEX projects_name RENAME TO project_name;
ALTER TABLE api_keys RENAME TO api_key;
ALTER INDEX api_keys_pkey RENAME TO api_key_pkey;
ALTER INDEX api_keys_id RENAME TO api_key_id;
ALTER TABLE jwt_keys RENAME TO jwt_key;
ALTER INDEX jwt_keys_pkey RENAME TO jwt_key_pkey;
ALTER INDEX jwt_keys_id RENAME TO jwt_key_id;
ALTER TABLE provider_apps RENAME TO provider_app;
ALTER INDEX provider_apps_pkey RENAME TO provider_app_pkey;
ALTER INDEX provider_apps_default RENAME TO provider_app_default;
ALTER TABLE integrations RENAME TO integration;
ALTER INDEX integrations_pkey RENAME TO integration_pkey;
ALTER INDEX integrations_name RENAME TO integration_name;
ALTER TABLE revisions RENAME TO revision;
ALTER INDEX revisions_pkey RENAME TO revision_pkey;
ALTER TABLE groups RENAME TO customer_group;
ALTER INDEX groups_pkey RENAME TO customer_group_pkey;
ALTER TABLE consumers RENAME TO consumer;
ALTER INDEX consumers_pkey RENAME TO consumer_pkey;
ALTER TABLE connections RENAME TO connection;
ALTER INDEX connections_pkey RENAME TO connection_pkey;
ALTER INDEX connections_group RENAME TO connection_group;
ALTER INDEX connections_idle RENAME TO connection_idle;
ALTER TABLE oauth_flows RENAME TO oauth_flow;
ALTER INDEX oauth_flows_pkey RENAME TO oauth_flow_pkey;
ALTER INDEX oauth_flows_state RENAME TO oauth_flow_state;
ALTER INDEX oauth_flows_expiry RENAME TO oauth_flow_expiry;
ALTER TABLE installations RENAME TO installation;
ALTER INDEX installations_pkey RENAME TO installation_pkey;
ALTER INDEX installations_group RENAME TO installation_group;
ALTER INDEX installations_connection RENAME TO installation_connection;
ALTER TABLE configs RENAME TO config;
ALTER INDEX configs_pkey RENAME TO config_pkey;
ALTER TABLE master_keys RENAME TO master_key;
ALTER INDEX master_keys_pkey RENAME TO master_key_pkey;

-- What the work is on, by its kind: an operation or a message. The lanes know neither.
ALTER TABLE work RENAME COLUMN operation_id TO ref;

-- The states that there are.
ALTER TABLE work ADD CONSTRAINT work_state CHECK (state IN (0, 1, 2));
ALTER TABLE lane ADD CONSTRAINT lane_kind CHECK (kind IN ('connection', 'node'));
ALTER TABLE connection ADD CONSTRAINT connection_status CHECK (status IN ('created', 'working', 'bad_credentials'));
ALTER TABLE installation ADD CONSTRAINT installation_last_operation_status
  CHECK (last_operation_status IN ('in_progress', 'success', 'failure'));
ALTER TABLE operation ADD CONSTRAINT operation_status CHECK (status IN ('in_progress', 'success', 'failure'));
ALTER TABLE operation_log ADD CONSTRAINT operation_log_severity CHECK (severity IN ('info', 'warning', 'error'));

-- Partitions are made by `svc_keep_partitions` for every table.
DROP FUNCTION IF EXISTS svc_ensure_partitions(timestamptz), svc_retire_defaults(bigint), svc_rotate_proxy_log(integer),
  svc_rotate_audit_log(integer), svc_rotate_messages(integer);
-- Have other parameters now.
DROP FUNCTION IF EXISTS svc_ab_seal(uuid[], uuid[], uuid[]), svc_ab_take(uuid[], uuid[], integer[], boolean[], uuid[], uuid[],
  uuid[], uuid[], text[], text[], json[], smallint[], uuid[], double precision[], double precision[]);

-- Keys of turns come hashed; only nodes that are gone by now sent them in clear.
DROP TRIGGER IF EXISTS turn_hashed ON turn;
DROP FUNCTION IF EXISTS svc_hash_turn();
