import { actAs } from '../../events/index.ts';
import { problem, Problem } from '../../kit/problem.ts';
import { baseUrlOf, withoutSecrets, workspaceOfInstance, type Provider } from '../../providers/index.ts';
import { askAccount, type Account } from '../proof/account.ts';
import { credentialOf } from '../credentials/credential.ts';
import { assertHealthy, checkHealth } from '../proof/health.ts';
import { mergeMetadata, placeOf } from '../credentials/metadata.ts';
import { refusalOf } from '../tokens/refusal.ts';
import { saveCredentials } from '../proof/save.ts';
import type { ProviderMetadata } from '../schema.ts';
import type { Secrets } from '../credentials/secrets.ts';
import { findSameConnection, readConnection, type ConnectionRow } from '../store.ts';
import { redirectUriOf, type FlowDeps } from './begin.ts';
import { isMarked, unmarking } from './browser.ts';
import { authorizationScheme } from './scheme.ts';
import { takeFlow, type Flow } from './flow-store.ts';
import { assertIssuer, readRedirect, type CallbackQuery, type Redirected } from './redirect.ts';
import { requestToken, type TokenOutcome } from '../tokens/token.ts';

/** How a flow ended; `returnUrl` when the browser is to go on, `cookie` to end its mark. */
export type FlowEnd = { returnUrl?: string; cookie?: string } & (
  | { connectionId: string; projectId: string }
  | { error: string; status: number }
);

export const deadLink: FlowEnd = {
  error: 'This link to connect an account was used already, is not known, or is older than ten minutes.',
  status: 400,
};
const otherBrowser: FlowEnd = {
  error: 'This browser did not open the link to connect the account. Open the link again, here.',
  status: 400,
};

/**
 * Ends a flow, whatever came back. Never throws for what the browser or the provider says; a failed one stores nothing. A
 * browser that did not open the flow's link ends nothing: the one that did may still come.
 */
export async function finishFlow(
  deps: FlowDeps,
  query: CallbackQuery,
  cookies: string | undefined,
): Promise<FlowEnd> {
  const { state } = query;
  const { publicUrl } = deps.ground;
  if (!state) return deadLink;
  if (!isMarked(publicUrl, state, cookies)) return otherBrowser;
  return { ...(await finishOwn(deps, query, state)), cookie: unmarking(publicUrl, state) };
}

async function finishOwn(deps: FlowDeps, query: CallbackQuery, state: string): Promise<FlowEnd> {
  let flow: Flow | undefined;
  try {
    flow = await takeFlow(deps.ground.database, deps.ground.vault, state);
    if (!flow) return deadLink;
    const taken = flow;
    const actor = taken.request.startedBy ?? { kind: 'service' };
    const connectionId = await actAs(actor, () => complete(deps, taken, query));
    return { connectionId, projectId: flow.projectId, ...returnOf(flow) };
  } catch (error) {
    if (!(error instanceof Problem)) {
      deps.ground.log.error({ err: error, provider: flow?.request.provider }, 'an OAuth flow failed');
      return { error: 'Something went wrong here.', status: 500, ...returnOf(flow) };
    }
    deps.ground.log.info(
      { problem: error.code, provider: flow?.request.provider, detail: error.message },
      'an OAuth flow ended without a connection',
    );
    return { error: error.message, status: error.status === 503 ? 503 : 400, ...returnOf(flow) };
  }
}

function returnOf(flow: Flow | undefined): { returnUrl?: string } {
  return flow?.request.returnUrl === undefined ? {} : { returnUrl: flow.request.returnUrl };
}

async function complete(deps: FlowDeps, flow: Flow, query: CallbackQuery): Promise<string> {
  const { ground, catalog, projects } = deps;
  const { projectId, request } = flow;
  const provider = catalog.get(request.provider);
  assertIssuer(provider, placeOf(provider, request.workspaceRef, request.providerMetadata), query['iss']);
  if (query.error !== undefined || !query.code) throw refusedConsent(provider, query);
  const app = await projects.getProviderApp(projectId, provider.name, request.providerAppId);
  const told = readRedirect(provider, query);
  const metadata = { ...request.providerMetadata, ...told.metadata };
  const place = placeOf(provider, request.workspaceRef, metadata);
  const outcome = await requestToken(ground, provider, place, app, {
    type: 'authorization_code',
    params: {
      ...told.tokenParams,
      code: query.code,
      redirect_uri: redirectUriOf(ground),
      ...(provider.oauth2Opts?.pkce ? { code_verifier: flow.verifier } : {}),
    },
    scopes: undefined,
  });
  if (outcome.kind !== 'granted') throw refusalOf(outcome, provider);
  return store(deps, flow, provider, outcome, told);
}

async function store(
  deps: FlowDeps,
  { projectId, request }: Flow,
  provider: Provider,
  { answer, askedAt }: Extract<TokenOutcome, { kind: 'granted' }>,
  told: Redirected,
): Promise<string> {
  const { accessToken, refreshToken } = answer;
  const secrets: Secrets = {
    kind: 'authorizationCode',
    accessToken,
    ...(refreshToken ? { refreshToken } : {}),
  };
  const account = await accountOf(deps, provider, request, secrets, {
    workspaceRef: answer.workspaceRef ?? told.workspaceRef,
    consumerRef: answer.consumerRef,
    metadata: { ...told.metadata, ...answer.metadata },
  });
  const metadata = mergeMetadata(request.providerMetadata, account.metadata) ?? request.providerMetadata;
  const workspaceRef = workspaceOf(provider, request, { ...account, metadata });
  // Throws for an API address that is not one of the provider's, before anything is stored.
  baseUrlOf(provider, placeOf(provider, workspaceRef, metadata));
  const replaced = await findReplaced(deps, projectId, request, workspaceRef);
  const status = await statusOf(deps, provider, replaced, { workspaceRef, metadata, secrets });
  const agoMs = performance.now() - askedAt;
  return saveCredentials(
    deps.ground,
    projectId,
    {
      owner: request,
      provider: provider.name,
      providerAppId: request.providerAppId,
      workspaceRef,
      providerConsumerRef: account.consumerRef,
      authScheme: authorizationScheme(provider),
      providerMetadata: metadata,
      scopes: answer.scopes ?? request.scopes,
      secrets,
      status,
      issuedAgoMs: agoMs,
      expiresInMs: answer.expiresInMs === undefined ? undefined : answer.expiresInMs - agoMs,
    },
    request.connectionId,
  );
}

/** The connection whose credentials the new ones are to replace. */
async function findReplaced(
  { ground: { database } }: FlowDeps,
  projectId: string,
  request: Flow['request'],
  workspaceRef: string | undefined,
): Promise<ConnectionRow | undefined> {
  const id =
    request.connectionId ??
    (await findSameConnection(database, projectId, request, request.provider, workspaceRef));
  return id === undefined ? undefined : readConnection(database, [projectId, id]);
}

/**
 * What the health check refuses is not stored. Old credentials stay until the new ones pass it; without one in the catalogue
 * they give way. Where there are none, or dead ones, a check that could not tell keeps nothing worth keeping.
 */
async function statusOf(
  { ground }: FlowDeps,
  provider: Provider,
  replaced: ConnectionRow | undefined,
  found: { workspaceRef: string | undefined; metadata: ProviderMetadata; secrets: Secrets },
): Promise<'created' | 'working'> {
  const place = placeOf(provider, found.workspaceRef, found.metadata);
  const row = { workspace_ref: found.workspaceRef ?? null, provider_metadata: found.metadata, generation: 0 };
  const health = await checkHealth(ground, provider, place, credentialOf(provider, row, found.secrets));
  const keepsOld = replaced !== undefined && replaced.status !== 'bad_credentials';
  if (health.kind !== 'unsure' || keepsOld) assertHealthy(provider, health);
  return health.kind === 'works' ? 'working' : 'created';
}

/** What was learned, completed by a question to the provider where its file has one. Throws when that leaves a doubt. */
async function accountOf(
  { ground }: FlowDeps,
  provider: Provider,
  request: Flow['request'],
  secrets: Secrets,
  known: Account,
): Promise<Account> {
  const metadata = { ...request.providerMetadata, ...known.metadata };
  const { workspaceRef } = request;
  const place = placeOf(provider, workspaceRef, metadata);
  const asked = provider.oauth2Opts?.explicitWorkspaceRequired ? { ...known, workspaceRef } : known;
  const account = await askAccount(ground, provider, place, secrets, asked);
  if (!('kind' in account)) return account;
  assertHealthy(provider, account);
  return known;
}

/** The account that was asked for, else the one that the provider names. Renewing must not change it. */
function workspaceOf(
  provider: Provider,
  request: Flow['request'],
  { workspaceRef: found, metadata }: Account,
): string | undefined {
  const { workspaceRef: known } = request;
  if (provider.oauth2Opts?.explicitWorkspaceRequired)
    return known ?? workspaceOfInstance(provider, placeOf(provider, known, metadata));
  if (request.connectionId !== undefined && known !== undefined && found !== undefined && known !== found) {
    throw problem('credentials-rejected', {
      detail: `You signed in to another account of ${provider.displayName} than the one that is connected.`,
    });
  }
  return found ?? known;
}

function refusedConsent(
  provider: Provider,
  { error, error_description: description }: CallbackQuery,
): Problem {
  if (error === 'access_denied') {
    return problem('credentials-rejected', { detail: `Access to ${provider.displayName} was not granted.` });
  }
  const said = withoutSecrets((description ?? error ?? 'no code came back').slice(0, 300));
  return problem('credentials-rejected', {
    detail: `${provider.displayName} did not grant access: ${said}.`,
  });
}
