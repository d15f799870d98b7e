import { hasAccessToken, type Secrets } from './credentials/index.ts';
import { notGranted } from './scopes.ts';
import type { Connection as WireConnection } from './schema.ts';
import type { ConnectionRow } from './store.ts';

/** A connection as the other rooms see it; no secrets. */
export interface Connection {
  id: string;
  projectId: string;
  provider: string;
  groupRef: string;
  consumerRef: string;
  workspaceRef: string | undefined;
  status: ConnectionRow['status'];
  statusDetail: string | undefined;
  generation: number;
  row: Readonly<ConnectionRow>;
}

export function connectionOf(row: ConnectionRow): Connection {
  return {
    id: row.id,
    projectId: row.project_id,
    provider: row.provider,
    groupRef: row.group_ref,
    consumerRef: row.consumer_ref,
    workspaceRef: row.workspace_ref ?? undefined,
    status: row.status,
    statusDetail: row.status_detail ?? undefined,
    generation: row.generation,
    row,
  };
}

/** Whether two connections are known to open one account; where a provider does not tell, nobody knows. */
export function isOfOneAccount(one: Connection, other: Connection): boolean {
  return (
    one.provider === other.provider &&
    one.workspaceRef !== undefined &&
    one.workspaceRef === other.workspaceRef
  );
}

/** Which secrets to show; the caller must have scope `full`. */
export interface Shown {
  secrets: Secrets;
  refreshToken: boolean;
}

/** The connection on the wire; secrets only when `shown` holds them. */
export function present({ row }: Connection, shown?: Shown): WireConnection {
  return {
    id: row.id,
    projectId: row.project_id,
    provider: row.provider,
    ...providerApp(row),
    ...missingScopes(row),
    group: {
      groupRef: row.group_ref,
      groupName: row.group_name,
      projectId: row.project_id,
      createTime: row.group_created_at.toISOString(),
      updateTime: row.group_updated_at.toISOString(),
    },
    consumer: {
      consumerRef: row.consumer_ref,
      consumerName: row.consumer_name,
      projectId: row.project_id,
      createTime: row.consumer_created_at.toISOString(),
      updateTime: row.consumer_updated_at.toISOString(),
    },
    ...(row.workspace_ref === null ? {} : { providerWorkspaceRef: row.workspace_ref }),
    ...(row.provider_consumer_ref === null ? {} : { providerConsumerRef: row.provider_consumer_ref }),
    createTime: row.created_at.toISOString(),
    updateTime: row.updated_at.toISOString(),
    authScheme: row.auth_scheme,
    status: row.status,
    ...(row.status_detail === null ? {} : { statusDetail: row.status_detail }),
    ...(row.is_aside ? { isAside: true as const } : {}),
    ...(row.access_issued_at ? { tokenIssueTime: row.access_issued_at.toISOString() } : {}),
    ...(row.access_expires_at ? { tokenExpireTime: row.access_expires_at.toISOString() } : {}),
    providerMetadata: row.provider_metadata,
    ...oauthBlock(row, shown),
    ...(shown?.secrets.kind === 'apiKey' ? { apiKey: shown.secrets.apiKey } : {}),
  };
}

function oauthBlock(
  row: ConnectionRow,
  shown: Shown | undefined,
): Pick<WireConnection, 'oauth2AuthorizationCode'> {
  if (!shown || !hasAccessToken(shown.secrets)) return {};
  const { secrets } = shown;
  const refreshToken = 'refreshToken' in secrets ? secrets.refreshToken : undefined;
  return {
    oauth2AuthorizationCode: {
      accessToken: {
        token: secrets.accessToken,
        ...(row.access_issued_at ? { issuedAt: row.access_issued_at.toISOString() } : {}),
        ...(row.access_expires_at ? { expiresAt: row.access_expires_at.toISOString() } : {}),
      },
      ...(shown.refreshToken && refreshToken ? { refreshToken: { token: refreshToken } } : {}),
      ...(row.scopes ? { scopes: row.scopes } : {}),
    },
  };
}

function missingScopes(row: ConnectionRow): Pick<WireConnection, 'missingScopes'> {
  const missing = notGranted(row);
  return missing.length > 0 ? { missingScopes: missing } : {};
}

function providerApp(row: ConnectionRow): Pick<WireConnection, 'providerApp'> {
  if (row.provider_app_id === null || row.app_client_id === null || !row.app_created_at) return {};
  return {
    providerApp: {
      id: row.provider_app_id,
      projectId: row.project_id,
      provider: row.provider,
      clientId: row.app_client_id,
      ...(row.app_external_ref === null ? {} : { externalRef: row.app_external_ref }),
      ...(row.app_scopes === null ? {} : { scopes: row.app_scopes }),
      ...(row.app_metadata === null ? {} : { metadata: row.app_metadata }),
      isDefault: row.app_is_default === true,
      createTime: row.app_created_at.toISOString(),
      updateTime: (row.app_updated_at ?? row.app_created_at).toISOString(),
    },
  };
}
