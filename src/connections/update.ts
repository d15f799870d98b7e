import { problem } from '../kit/problem.ts';
import { readMask } from '../kit/update-mask.ts';
import { baseUrlOf, type Provider } from '../providers/index.ts';
import { schemeOf, type CredentialBlock } from './blocks.ts';
import { placeOf } from './metadata.ts';
import type { ConnectionRequest, UpdateConnectionRequest } from './schema.ts';
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

/** Throws invalid-request for a mask, and auth-scheme-mismatch for credentials of another kind than the connection's. */
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
    // Throws for values that fit no address of the provider.
    baseUrlOf(provider, placeOf(provider, workspaceRef, providerMetadata));
    return { kind: 'describe', description };
  }
  const credentials = Object.fromEntries(blocks.map((name) => [name, connection[name]])) as ConnectionRequest;
  const place = {
    ...(workspaceRef === undefined ? {} : { providerWorkspaceRef: workspaceRef }),
    providerMetadata,
  };
  return { kind: 'replace', request: { ...credentials, ...place } };
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
