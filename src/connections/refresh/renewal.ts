import type { Projects } from '../../projects/index.ts';
import type { Provider } from '../../providers/index.ts';
import { hasAccessToken, placeOf, type Secrets } from '../credentials/index.ts';
import type { ConnectionRow } from '../store.ts';
import {
  clientCredentialsGrant,
  jwtBearerGrant,
  passwordGrant,
  refreshGrant,
  type TokenClient,
  type TokenGrant,
} from '../tokens/index.ts';

/** The token request that renews a connection, or why nothing but the customer can. */
export async function renewalOf(
  projects: Projects,
  provider: Provider,
  row: ConnectionRow,
  secrets: Secrets,
): Promise<{ client: TokenClient; grant: TokenGrant } | { without: string }> {
  if (!hasAccessToken(secrets)) return { without: noRefreshToken };
  if (secrets.kind === 'clientCredentials')
    return { client: secrets, grant: clientCredentialsGrant(secrets.scopes) };
  if (secrets.kind === 'jwtBearer') {
    const place = placeOf(provider, row.workspace_ref, row.provider_metadata);
    return { client: { clientId: secrets.clientId }, grant: await jwtBearerGrant(provider, place, secrets) };
  }
  if (secrets.kind === 'password') {
    const grant = secrets.refreshToken ? refreshGrant(secrets.refreshToken) : passwordGrant(secrets);
    return { client: secrets, grant };
  }
  if (!secrets.refreshToken) return { without: noRefreshToken };
  // A refresh token is the client's that it was issued to (RFC 6749, 6).
  if (row.provider_app_id !== null && row.app_client_id === null)
    return { without: 'The provider app by which the account was connected was deleted.' };
  const app = await projects.getProviderApp(row.project_id, row.provider, row.provider_app_id ?? undefined);
  return { client: app, grant: refreshGrant(secrets.refreshToken) };
}

/** What may still renew a connection when these are refused: a user name and a password hold when a refresh token is over. */
export function leftOf(secrets: Secrets): Secrets | undefined {
  if (secrets.kind !== 'password' || secrets.refreshToken === undefined) return undefined;
  const { refreshToken: _over, ...left } = secrets;
  return left;
}

const noRefreshToken = 'The provider no longer accepts the access token, and there is no refresh token.';
