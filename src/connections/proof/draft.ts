import type { Ground } from '../../kit/ground.ts';
import { refuse } from '../../kit/problem.ts';
import type { Projects } from '../../projects/index.ts';
import type { Provider } from '../../providers/index.ts';
import { placeOf, type Secrets } from '../credentials/index.ts';
import type { ConnectionRequest } from '../schema.ts';
import {
  asCustomers,
  clientCredentialsGrant,
  jwtBearerGrant,
  passwordGrant,
  refreshGrant,
  refusalOf,
  requestToken,
  type Granted,
  type TokenClient,
  type TokenGrant,
} from '../tokens/index.ts';
import type { CredentialBlock } from './blocks.ts';

export interface DraftDeps {
  ground: Ground;
  projects: Projects;
  /** Keeps others from sending a refresh token, too. Throws credentials-rejected when one of them just used it. */
  holdToken(brought: BroughtToken): Promise<TokenHold>;
}

/** A refresh token that was brought for a group, and may be that of connections which are there. */
export interface BroughtToken extends Bringer {
  provider: string;
  refreshToken: string;
}

interface Bringer {
  projectId: string;
  groupRef: string;
}

export interface TokenHold {
  /** Asked right before the token leaves. */
  holds(): boolean;
  /** Once what came for the token is stored, or nothing came. */
  end(): Promise<void>;
}

/** Secrets ready for use, and what came with them. */
export interface Draft {
  secrets: Secrets;
  scopes?: string[];
  providerAppId?: string;
  expiresInMs?: number;
  granted?: Granted;
  /** Of the refresh token that brought it. */
  hold?: TokenHold;
}

/**
 * Turns the block of a request into secrets, asking the token endpoint where there is one. Throws credentials-rejected and
 * provider-unreachable for what it says, and invalid-request for a block that misses something.
 */
export async function draftOf(
  deps: DraftDeps,
  whose: Bringer,
  provider: Provider,
  request: ConnectionRequest,
  block: CredentialBlock | undefined,
): Promise<Draft> {
  const { apiKey, basicAuth, customAuth, oauth2ClientCredentials, oauth2PasswordCredentials } = request;
  if (block === undefined) return { secrets: { kind: 'none' } };
  if (apiKey !== undefined) return { secrets: { kind: 'apiKey', apiKey } };
  if (basicAuth) return { secrets: { kind: 'basic', ...basicAuth } };
  if (customAuth && provider.authType === 'jwt') return assertedDraft(deps, provider, request, customAuth);
  if (customAuth) return { secrets: { kind: 'custom', values: checkedInputs(provider, customAuth) } };
  if (oauth2ClientCredentials) {
    const { clientId, clientSecret, scopes } = oauth2ClientCredentials;
    const granted = await fetchOwn(
      deps,
      provider,
      request,
      oauth2ClientCredentials,
      clientCredentialsGrant(scopes),
    );
    const { accessToken } = granted.answer;
    const kept = { clientId, clientSecret, ...(scopes ? { scopes } : {}) };
    return {
      secrets: { kind: 'clientCredentials', accessToken, ...kept },
      ...(scopes ? { scopes } : {}),
      granted,
    };
  }
  if (oauth2PasswordCredentials) {
    const granted = await fetchOwn(
      deps,
      provider,
      request,
      oauth2PasswordCredentials,
      passwordGrant(oauth2PasswordCredentials),
    );
    const { accessToken, refreshToken } = granted.answer;
    const secrets: Secrets = {
      kind: 'password',
      ...oauth2PasswordCredentials,
      accessToken,
      ...(refreshToken ? { refreshToken } : {}),
    };
    return {
      secrets,
      ...(oauth2PasswordCredentials.scopes ? { scopes: oauth2PasswordCredentials.scopes } : {}),
      granted,
    };
  }
  return importTokens(deps, whose, provider, request);
}

async function assertedDraft(
  deps: DraftDeps,
  provider: Provider,
  request: ConnectionRequest,
  values: Record<string, string>,
): Promise<Draft> {
  const { clientId, username, privateKey } = checkedInputs(provider, values);
  if (!clientId || !username || !privateKey) {
    const missing = ['clientId', 'username', 'privateKey'].filter((name) => !values[name]);
    throw refuse(missing.map((name) => ({ in: 'body', name: `customAuth.${name}`, detail: 'is required' })));
  }
  const key = { clientId, username, privateKey };
  const place = placeOf(provider, request.providerWorkspaceRef, request.providerMetadata ?? {});
  const grant = await jwtBearerGrant(provider, place, key);
  const granted = await fetchOwn(deps, provider, request, { clientId }, grant);
  return { secrets: { kind: 'jwtBearer', accessToken: granted.answer.accessToken, ...key }, granted };
}

function checkedInputs(provider: Provider, values: Record<string, string>): Record<string, string> {
  const known = (provider.customOpts?.inputs ?? []).map((input) => input.name);
  const unknown = Object.keys(values).filter((name) => !known.includes(name));
  if (unknown.length === 0) return values;
  const detail = `is not an input of this provider; they are ${known.join(', ')}`;
  throw refuse(unknown.map((name) => ({ in: 'body', name: `customAuth.${name}`, detail })));
}

/** A token for a client of the customer's own: when that client is refused, so are the credentials. */
async function fetchOwn(
  { ground }: DraftDeps,
  provider: Provider,
  request: ConnectionRequest,
  client: TokenClient,
  grant: TokenGrant,
): Promise<Granted> {
  const place = placeOf(provider, request.providerWorkspaceRef, request.providerMetadata ?? {});
  const outcome = await requestToken(ground, provider, place, client, grant);
  if (outcome.kind === 'granted') return outcome;
  throw refusalOf(asCustomers(outcome), provider);
}

async function importTokens(
  deps: DraftDeps,
  whose: Bringer,
  provider: Provider,
  request: ConnectionRequest,
): Promise<Draft> {
  const given = request.oauth2AuthorizationCode ?? {};
  const refreshToken = given.refreshToken?.token;
  const accessToken = given.accessToken?.token;
  const scopes = given.scopes ? { scopes: given.scopes } : {};
  const endsAt = given.accessToken?.expiresAt;
  const expiresInMs = endsAt === undefined ? undefined : Date.parse(endsAt) - Date.now();
  const isUsable = accessToken !== undefined && (expiresInMs === undefined || expiresInMs > 0);
  if (!isUsable && refreshToken === undefined) {
    const name = 'oauth2AuthorizationCode';
    throw refuse([
      { in: 'body', name, detail: 'needs an access token that is not over, or a refresh token' },
    ]);
  }
  if (!isUsable && refreshToken !== undefined) {
    return { ...scopes, ...(await refreshImported(deps, whose, provider, request, refreshToken)) };
  }
  const app =
    refreshToken === undefined
      ? undefined
      : await deps.projects.getProviderApp(whose.projectId, provider.name);
  return {
    secrets: {
      kind: 'authorizationCode',
      accessToken: accessToken ?? '',
      ...(refreshToken ? { refreshToken } : {}),
    },
    ...scopes,
    ...(app ? { providerAppId: app.id } : {}),
    ...(expiresInMs === undefined ? {} : { expiresInMs }),
  };
}

/** New tokens for an imported refresh token, which is held from then on. */
export async function refreshImported(
  deps: DraftDeps,
  whose: Bringer,
  provider: Provider,
  request: ConnectionRequest,
  refreshToken: string,
): Promise<Draft & { hold: TokenHold }> {
  const app = await deps.projects.getProviderApp(whose.projectId, provider.name);
  const place = placeOf(provider, request.providerWorkspaceRef, request.providerMetadata ?? {});
  const hold = await deps.holdToken({ ...whose, provider: provider.name, refreshToken });
  try {
    const maySend = (): boolean => hold.holds();
    const granted = await requestToken(deps.ground, provider, place, app, refreshGrant(refreshToken), {
      maySend,
    });
    if (granted.kind !== 'granted') throw refusalOf(granted, provider);
    const { accessToken, refreshToken: newRefreshToken = refreshToken } = granted.answer;
    const secrets = { kind: 'authorizationCode', accessToken, refreshToken: newRefreshToken } as const;
    return { secrets, providerAppId: app.id, granted, hold };
  } catch (error) {
    await hold.end();
    throw error;
  }
}
