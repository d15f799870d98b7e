import type { Ground } from '../../kit/ground.ts';
import { refuse } from '../../kit/problem.ts';
import { baseUrlOf, type Provider } from '../../providers/index.ts';
import type { Projects } from '../../projects/index.ts';
import { askAccount, type Account } from './account.ts';
import { assertBlockFits, schemeOf, type CredentialBlock } from './blocks.ts';
import { credentialOf } from '../credentials/credential.ts';
import { assertHealthy, checkHealth, type Health } from './health.ts';
import { mergeMetadata, placeOf } from '../credentials/metadata.ts';
import { jwtBearerGrant } from '../tokens/assertion.ts';
import { requestToken, type TokenClient, type TokenGrant, type TokenOutcome } from '../tokens/token.ts';
import { refusalOf } from '../tokens/refusal.ts';
import { clientCredentialsGrant, passwordGrant, refreshGrant } from '../refresh/renewal.ts';
import type { NewCredentials } from './save.ts';
import type { ConnectionRequest, ProviderMetadata } from '../schema.ts';
import type { Secrets } from '../credentials/secrets.ts';

export interface ObtainDeps {
  ground: Ground;
  projects: Projects;
}

export type Obtained = Omit<NewCredentials, 'owner'>;

type Granted = Extract<TokenOutcome, { kind: 'granted' }>;

/** Secrets ready for use, and what came with them. */
interface Draft {
  secrets: Secrets;
  scopes?: string[];
  providerAppId?: string;
  expiresInMs?: number;
  granted?: Granted;
}

/**
 * Turns the block of a request into credentials that were tried at the provider. Throws auth-scheme-mismatch for another
 * block than the provider's, credentials-rejected when they do not work, provider-unreachable when nobody could tell.
 */
export async function obtainCredentials(
  deps: ObtainDeps,
  projectId: string,
  provider: Provider,
  request: ConnectionRequest,
): Promise<Obtained> {
  const block = assertBlockFits(provider, request);
  const draft = await draftOf(deps, projectId, provider, request, block);
  const first = await triedOut(deps, provider, request, block, draft);
  const refreshToken = request.oauth2AuthorizationCode?.refreshToken?.token;
  if (first.health.kind === 'rejected' && refreshToken !== undefined && !draft.granted) {
    // An imported access token may be over while its refresh token lives.
    const renewed = await refreshImported(deps, projectId, provider, request, refreshToken);
    const second = await triedOut(deps, provider, request, block, { ...draft, ...renewed });
    return { ...second.obtained, status: statusAfter(provider, second.health, true) };
  }
  const mustKeep = refreshToken !== undefined && draft.granted !== undefined;
  return { ...first.obtained, status: statusAfter(provider, first.health, mustKeep) };
}

/** A refresh token that was used may have been replaced: what came for it is stored whatever the check says, not to be lost. */
function statusAfter(provider: Provider, health: Health, mustKeep: boolean): 'working' | 'created' {
  if (!mustKeep) assertHealthy(provider, health);
  return health.kind === 'works' ? 'working' : 'created';
}

/** The credentials as they would be stored, and whether they work: the account is found, and the health check passes. */
async function triedOut(
  { ground }: ObtainDeps,
  provider: Provider,
  request: ConnectionRequest,
  block: CredentialBlock | undefined,
  draft: Draft,
): Promise<{ obtained: Obtained; health: Health }> {
  const { answer } = draft.granted ?? {};
  const asked: ProviderMetadata = request.providerMetadata ?? {};
  const known: Account = {
    workspaceRef: request.providerWorkspaceRef ?? answer?.workspaceRef,
    consumerRef: answer?.consumerRef,
    metadata: (answer && mergeMetadata(asked, answer.metadata)) ?? asked,
  };
  const place = placeOf(provider, request.providerWorkspaceRef, known.metadata);
  const account = await askAccount(ground, provider, place, draft.secrets, known);
  if ('kind' in account) return { obtained: finished(provider, block, draft, known), health: account };
  const { workspaceRef, metadata } = account;
  const full = placeOf(provider, workspaceRef, metadata);
  // Throws for an API address that is not one of the provider's.
  baseUrlOf(provider, full);
  const row = { workspace_ref: workspaceRef ?? null, provider_metadata: metadata, generation: 0 };
  const health = await checkHealth(ground, provider, full, credentialOf(provider, row, draft.secrets));
  return { obtained: finished(provider, block, draft, account), health };
}

function finished(
  provider: Provider,
  block: CredentialBlock | undefined,
  draft: Draft,
  { workspaceRef, consumerRef, metadata }: Account,
): Obtained {
  const { granted } = draft;
  const agoMs = granted ? performance.now() - granted.askedAt : 0;
  const lifeMs = granted ? granted.answer.expiresInMs : draft.expiresInMs;
  return {
    provider: provider.name,
    providerAppId: draft.providerAppId,
    workspaceRef,
    providerConsumerRef: consumerRef,
    authScheme: schemeOf(provider, block),
    providerMetadata: metadata,
    scopes: granted?.answer.scopes ?? draft.scopes,
    secrets: draft.secrets,
    status: 'created',
    issuedAgoMs: granted ? agoMs : undefined,
    expiresInMs: lifeMs === undefined ? undefined : lifeMs - agoMs,
  };
}

async function draftOf(
  deps: ObtainDeps,
  projectId: string,
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
  return importTokens(deps, projectId, provider, request);
}

async function assertedDraft(
  deps: ObtainDeps,
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
  { ground }: ObtainDeps,
  provider: Provider,
  request: ConnectionRequest,
  client: TokenClient,
  grant: TokenGrant,
): Promise<Granted> {
  const place = placeOf(provider, request.providerWorkspaceRef, request.providerMetadata ?? {});
  const outcome = await requestToken(ground, provider, place, client, grant);
  if (outcome.kind === 'granted') return outcome;
  throw refusalOf(outcome.kind === 'config' ? { ...outcome, kind: 'revoked' } : outcome, provider);
}

async function importTokens(
  deps: ObtainDeps,
  projectId: string,
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
    return { ...scopes, ...(await refreshImported(deps, projectId, provider, request, refreshToken)) };
  }
  const app =
    refreshToken === undefined ? undefined : await deps.projects.getProviderApp(projectId, provider.name);
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

async function refreshImported(
  { ground, projects }: ObtainDeps,
  projectId: string,
  provider: Provider,
  request: ConnectionRequest,
  refreshToken: string,
): Promise<Draft> {
  const app = await projects.getProviderApp(projectId, provider.name);
  const place = placeOf(provider, request.providerWorkspaceRef, request.providerMetadata ?? {});
  const granted = await requestToken(ground, provider, place, app, refreshGrant(refreshToken));
  if (granted.kind !== 'granted') throw refusalOf(granted, provider);
  const { accessToken, refreshToken: newRefreshToken = refreshToken } = granted.answer;
  return {
    secrets: { kind: 'authorizationCode', accessToken, refreshToken: newRefreshToken },
    providerAppId: app.id,
    granted,
  };
}
