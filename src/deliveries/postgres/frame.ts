/** Columns that every table has, with what they are made of. */
export const fixedColumns: Readonly<Record<string, string>> = {
  installation_id: 'text NOT NULL',
  record_id: 'text NOT NULL',
  _svc_version: "text NOT NULL DEFAULT ''",
  _svc_seq: 'bigint NOT NULL DEFAULT 0',
  _svc_deleted: 'boolean NOT NULL DEFAULT false',
  _svc_group_ref: "text NOT NULL DEFAULT ''",
  _svc_synced_at: 'timestamptz NOT NULL DEFAULT now()',
  fields: 'jsonb',
  associations: 'jsonb',
  raw: 'jsonb',
};
export const keyColumns: readonly string[] = ['installation_id', 'record_id'];
