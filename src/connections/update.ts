import { problem, refuse, type Issue } from '../kit/problem.ts';
import { readMask } from '../kit/update-mask.ts';
import { addressInputsOf, type Provider } from '../providers/index.ts';
import { schemeOf, type CredentialBlock } from './proof/index.ts';
import type { ConnectionRequest, ProviderMetadata, UpdateConnectionRequest } from './schema.ts';
import type { ConnectionRow, Description } from './store.ts';

const credentialMasks = [
  'apiKey',
  'basicAuth',
  'oauth2ClientCredentials',
  'oauth2PasswordCredentials',
] as const;
const masks = ['providerWorkspaceRef', 'providerMetadata', ...credentialMasks];

/** What an update does: describes the connection anew, or replaces its credentials by those of the request. */
export type UpdatePlan =
  | { kind: 'describe'; description: Description }
  | { kind: 'replace'; request: ConnectionRequest };

/**
 * Throws invalid-request for a mask, and for another address without credentials: those that are stored go nowhere but
 * where their giver sent them. Throws auth-scheme-mismatch for credentials of another kind than the connection's.
 */
export function planUpdate(
  provider: Provider,
  row: Pick<ConnectionRow, 'auth_scheme' | 'workspace_ref' | 'provider_metadata'>,
  { updateMask, connection }: UpdateConnectionRequest,
): UpdatePlan {
  const named = readMask(updateMask, masks, connection, 'connection');
  const description: Description = {
    ...(named.has('providerWorkspaceRef') && connection.providerWorkspaceRef !== undefined
      ? { workspaceRef: connection.providerWorkspaceRef }
      : {}),
    ...(named.has('providerMetadata') && connection.providerMetadata
      ? { providerMetadata: connection.providerMetadata }
      : {}),
  };
  const workspaceRef = description.workspaceRef ?? row.workspace_ref ?? undefined;
  const providerMetadata = description.providerMetadata ?? row.provider_metadata;
  const blocks = credentialMasks.filter((name) => named.has(name));
  for (const block of blocks) assertSameScheme(provider, row, block);
  if (blocks.length === 0) {
    assertSameAddress(provider, row, { workspaceRef, providerMetadata });
    return { kind: 'describe', description };
  }
  const credentials = Object.fromEntries(blocks.map((name) => [name, connection[name]])) as ConnectionRequest;
  const place = {
    ...(workspaceRef === undefined ? {} : { providerWorkspaceRef: workspaceRef }),
    providerMetadata,
  };
  return { kind: 'replace', request: { ...credentials, ...place } };
}

/** Also a value that is new, or gone: it may stand in for a default, or the other way round. */
function assertSameAddress(
  provider: Provider,
  row: Pick<ConnectionRow, 'auth_scheme' | 'workspace_ref' | 'provider_metadata'>,
  next: { workspaceRef: string | undefined; providerMetadata: ProviderMetadata },
): void {
  const detail = 'decides where the credentials are sent, and changes only together with new ones';
  const inputs = [...addressInputsOf(provider)];
  const moved = inputs.filter(
    (name) => row.provider_metadata[name]?.value !== next.providerMetadata[name]?.value,
  );
  const issues = moved.map((name): Issue => ({
    in: 'body',
    name: `connection.providerMetadata.${name}`,
    detail,
  }));
  if ((row.workspace_ref ?? undefined) !== next.workspaceRef)
    issues.push({ in: 'body', name: 'connection.providerWorkspaceRef', detail });
  if (issues.length === 0) return;
  const refusal = refuse(issues);
  refusal.details.remedy = row.auth_scheme.startsWith('oauth2/authorizationCode')
    ? 'Connect the other address: POST /v1/oauth-connect.'
    : 'Name the credentials in the same updateMask and send them, or connect the other address: POST …/connections:generate.';
  throw refusal;
}

function assertSameScheme(
  provider: Provider,
  { auth_scheme: scheme }: Pick<ConnectionRow, 'auth_scheme'>,
  block: CredentialBlock,
): void {
  if (schemeOf(provider, block) === scheme) return;
  throw problem('auth-scheme-mismatch', {
    detail: `The connection uses ${scheme}; \`${block}\` does not fit it.`,
    ...(scheme.startsWith('oauth2/authorizationCode')
      ? { remedy: 'Connect again: PATCH …/connections/{id}:oauth-update.' }
      : {}),
  });
}
