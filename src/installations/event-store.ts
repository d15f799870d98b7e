import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import { newId } from '../kit/ids.ts';

// The installation as an event shows it. A connection that is gone is left out.
const record = statement(
  'installations_record_event',
  `INSERT INTO event (project_id, id, type, group_ref, connection_id, installation_id, data)
   SELECT n.project_id, $3::uuid, $4, n.group_ref, n.connection_id, n.id,
     (jsonb_strip_nulls(jsonb_build_object('projectId', n.project_id, 'provider', i.provider, 'integrationId', i.id,
        'integrationName', i.name, 'installationId', n.id, 'connectionId', n.connection_id, 'groupRef', n.group_ref,
        'groupName', g.name, 'consumerRef', c.consumer_ref, 'consumerName', k.name))
      || jsonb_build_object('config', f.content)
      || CASE WHEN $5::jsonb IS NULL THEN '{}' ELSE jsonb_build_object('lastConfig', $5::jsonb) END)::json
   FROM installations n
     JOIN integrations i ON i.project_id = n.project_id AND i.id = n.integration_id
     JOIN configs f ON f.project_id = n.project_id AND f.installation_id = n.id AND f.id = n.config_id
     LEFT JOIN groups g ON g.project_id = n.project_id AND g.group_ref = n.group_ref
     LEFT JOIN connections c ON c.project_id = n.project_id AND c.id = n.connection_id
     LEFT JOIN consumers k ON k.project_id = c.project_id AND k.consumer_ref = c.consumer_ref
   WHERE n.project_id = $1 AND n.id = $2`,
);

/** Records what happens to an installation, in the transaction of the change: after it, or before a deletion. */
export async function recordInstallationEvent(
  tx: Queryable,
  projectId: string,
  id: string,
  type: 'installation.created' | 'installation.updated' | 'installation.deleted',
  lastConfig?: unknown,
): Promise<void> {
  const last = lastConfig === undefined ? null : JSON.stringify(lastConfig);
  await tx.rows(record, [projectId, id, newId(), type, last]);
}
