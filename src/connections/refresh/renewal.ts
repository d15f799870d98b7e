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

/** The token request that renews a connection, or undefined when nothing but the customer can. */
export async function renewalOf(
  projects: Projects,
  provider: Provider,
  row: ConnectionRow,
  secrets: Secrets,
): Promise<{ client: TokenClient; grant: TokenGrant } | undefined> {
  if (!hasAccessToken(secrets)) return undefined;
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
  if (!secrets.refreshToken) return undefined;
  const app = await projects.getProviderApp(row.project_id, row.provider, row.provider_app_id ?? undefined);
  return { client: app, grant: refreshGrant(secrets.refreshToken) };
}
