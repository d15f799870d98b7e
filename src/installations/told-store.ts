import type { Told } from '../events/index.ts';
import type { Queryable } from '../kit/db/database.ts';
import { statement } from '../kit/db/statement.ts';
import type { Target } from './targets.ts';
import type { ConfigContent } from './config/schema.ts';

/**
 * The block of an installation in what is told of it, as SQL of one row with group_ref, connection_id, config_id and block, for
 * expressions of its project and its id. A connection that is gone is left out.
 */
export const toldInstallation = (
  projectId: string,
  id: string,
): string => `SELECT n.group_ref, n.connection_id, n.config_id,
    jsonb_strip_nulls(jsonb_build_object('projectId', n.project_id, 'provider', i.provider, 'integrationId', i.id,
      'integrationName', i.name, 'installationId', n.id, 'connectionId', n.connection_id, 'groupRef', n.group_ref,
      'groupName', g.name, 'consumerRef', c.consumer_ref, 'consumerName', k.name)) AS block
  FROM installation n
    JOIN integration i ON i.project_id = n.project_id AND i.id = n.integration_id
    LEFT JOIN customer_group g ON g.project_id = n.project_id AND g.group_ref = n.group_ref
    LEFT JOIN connection c ON c.project_id = n.project_id AND c.id = n.connection_id
    LEFT JOIN group_consumer k
      ON k.project_id = c.project_id AND k.group_ref = c.group_ref AND k.consumer_ref = c.consumer_ref
  WHERE n.project_id = ${projectId} AND n.id = ${id}`;

/** A larger config is told by its address, so that with the one before it a message stays within 300,000 bytes. */
const mostConfigBytes = 100_000;

const read = statement(
  'installations_read_told',
  `SELECT n.group_ref, n.connection_id, (n.block || CASE
      WHEN octet_length(f.content::text) > ${mostConfigBytes} THEN jsonb_build_object('configURL', $4::text)
      ELSE jsonb_build_object('config', f.content) END || $3::jsonb)::text AS told
  FROM (${toldInstallation('$1', '$2')}) n
  JOIN config f ON f.project_id = $1 AND f.installation_id = $2 AND f.id = n.config_id`,
);

/** What of an installation is told. */
interface Telling {
  projectId: string;
  id: string;
  type: Told['type'];
  /** The config before this one. */
  lastConfig?: ConfigContent;
  more?: Record<string, unknown>;
}

/** What is to be told of an installation, in the transaction of the change: after it, or before a deletion. */
export async function toldOf(
  tx: Queryable,
  publicUrl: string,
  { projectId, id, type, lastConfig, more = {} }: Telling,
): Promise<Told | undefined> {
  type Row = { group_ref: string; connection_id: string; told: string };
  const url = `${publicUrl}/v1/projects/${projectId}/installations/${id}/configs`;
  const all = JSON.stringify({ ...more, ...(lastConfig ? toldBefore(lastConfig, url) : {}) });
  const [row] = await tx.rows<Row>(read, [projectId, id, all, url]);
  if (!row) return undefined;
  const { group_ref: groupRef, connection_id: connectionId, told: data } = row;
  return { type, groupRef, connectionId, installationId: id, data };
}

function toldBefore(lastConfig: ConfigContent, url: string): Record<string, unknown> {
  const isLarge = Buffer.byteLength(JSON.stringify(lastConfig)) > mostConfigBytes;
  return isLarge ? { lastConfigURL: url } : { lastConfig };
}

/** Whose records are delivered, in the words of a message. */
export interface Sender {
  groupName: string;
  consumerRef: string;
  consumerName: string;
  /** The account at the provider, where it is known. */
  workspace: string | null;
  updatedAt: Date;
}

const readSender = statement(
  'installations_read_sender',
  `SELECT coalesce(g.name, n.group_ref) AS "groupName", coalesce(c.consumer_ref, '') AS "consumerRef",
     coalesce(k.name, c.consumer_ref, '') AS "consumerName", c.workspace_ref AS workspace, n.updated_at AS "updatedAt"
   FROM installation n
     LEFT JOIN customer_group g ON g.project_id = n.project_id AND g.group_ref = n.group_ref
     LEFT JOIN connection c ON c.project_id = n.project_id AND c.id = $3
     LEFT JOIN group_consumer k
      ON k.project_id = c.project_id AND k.group_ref = c.group_ref AND k.consumer_ref = c.consumer_ref
   WHERE n.project_id = $1 AND n.id = $2`,
);

/** Of what is read by the connection, whichever the installation has by now. Undefined when the installation is gone. */
export async function senderOf(
  db: Queryable,
  { projectId, installationId, connectionId }: Pick<Target, 'projectId' | 'installationId' | 'connectionId'>,
): Promise<Sender | undefined> {
  return (await db.rows<Sender>(readSender, [projectId, installationId, connectionId]))[0];
}
