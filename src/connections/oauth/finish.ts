import { actAs } from '../../events/index.ts';
import { mayBeDone } from '../../kit/db/deeds.ts';
import { problem, Problem } from '../../kit/problem.ts';
import { withoutSecrets, workspaceOfInstance, type Catalog, type Provider } from '../../providers/index.ts';
import { mergeMetadata, placeOf } from '../credentials/index.ts';
import { keep, prove, schemeOf, type Account, type AccountRule } from '../proof/index.ts';
import { refusalOf, requestToken, type Granted } from '../tokens/index.ts';
import { redirectUriOf, type FlowDeps } from './begin.ts';
import { secretIn, unmarking } from './browser.ts';
import { findEndedFlow, isOpenFlow, recordRefusal, takeFlow, type Flow, type FlowKey } from './flow-store.ts';
import type { PageKind } from './page-text.ts';
import { assertIssuer, readRedirect, type CallbackQuery, type Redirected } from './redirect.ts';

/** How a flow ended; `cookie` ends the mark of its browser, `provider` is the name of the provider. */
export type FlowEnd = { cookie?: string; projectId?: string; provider?: string } & (
  | { connectionId: string; projectId: string; returnUrl?: string }
  | FlowRefused
);
export interface FlowRefused {
  reason: Exclude<PageKind, 'connected'>;
  error: string;
  status: number;
  /** The browser goes on there. */
  returnUrl?: string;
  /** A link that is over is told of before anything else; this leads on from there. */
  wayBack?: string;
}

const deadLinks = {
  used: 'This link to connect an account was used already.',
  expired: 'This link to connect an account is older than ten minutes.',
  unknown:
    'This link to connect an account is not known: it was used or is over for a while, or was never made.',
} as const;
/** Its file may be gone meanwhile. */
const nameOf = (catalog: Catalog, provider: string): string =>
  catalog.find(provider)?.displayName ?? provider;

const otherBrowser: FlowEnd = {
  reason: 'otherBrowser',
  error: 'This browser did not open the link to connect the account; another one did, or none.',
  status: 400,
};

/** What is told of a link that does not hold (any more), or is another browser's. */
export async function deadFlow(
  { ground, catalog, projects }: FlowDeps,
  state: string | undefined,
): Promise<FlowEnd> {
  const ended = state === undefined ? undefined : await findEndedFlow(ground.database, state);
  if (!ended) {
    if (state !== undefined && (await isOpenFlow(ground.database, state))) return otherBrowser;
    return { reason: 'unknown', error: deadLinks.unknown, status: 400 };
  }
  const returnUrl = await returnUrlOf(projects, ended);
  return {
    reason: ended.how,
    error: deadLinks[ended.how],
    status: 400,
    projectId: ended.projectId,
    provider: nameOf(catalog, ended.request.provider),
    ...(returnUrl === undefined ? {} : { wayBack: returnUrl }),
  };
}

/**
 * Ends a flow, whatever came back. Never throws for what the browser or the provider says; a failed one stores nothing. A
 * browser that did not open the flow's link first ends nothing: the one that did may still come.
 */
export async function finishFlow(
  deps: FlowDeps,
  query: CallbackQuery,
  cookies: string | undefined,
): Promise<FlowEnd> {
  const { state } = query;
  const { publicUrl } = deps.ground;
  if (!state) return deadFlow(deps, undefined);
  const secret = secretIn(publicUrl, state, cookies);
  if (secret === undefined) {
    // The mark ended with the flow: the person may have come back to its last page.
    return deadFlow(deps, state).catch(() => otherBrowser);
  }
  const end = await finishOwn(deps, query, { state, secret });
  return end === otherBrowser ? end : { ...end, cookie: unmarking(publicUrl, state) };
}

async function finishOwn(deps: FlowDeps, query: CallbackQuery, key: FlowKey): Promise<FlowEnd> {
  let flow: Flow | undefined;
  try {
    flow = await takeFlow(deps.ground.database, deps.ground.vault, key);
    if (!flow) return await deadFlow(deps, key.state);
    const taken = flow;
    const actor = taken.request.startedBy ?? { kind: 'service' };
    if (!(await deps.projects.stillHolds(actor))) return await takenBack(deps, taken);
    const connectionId = await actAs(actor, () => complete(deps, taken, query));
    return { connectionId, ...(await ofFlow(deps, flow)), projectId: flow.projectId };
  } catch (error) {
    if (!(error instanceof Problem)) {
      deps.ground.log.error({ err: error, provider: flow?.request.provider }, 'an OAuth flow failed');
      return {
        reason: 'failed',
        error: 'Something went wrong here.',
        status: 500,
        ...(await ofFlow(deps, flow)),
      };
    }
    deps.ground.log.info(
      { problem: error.code, provider: flow?.request.provider, detail: error.message },
      'an OAuth flow ended without a connection',
    );
    // Without its flow it was not begun.
    const isUnsure = flow !== undefined && mayBeDone(error);
    const refused = { reason: isUnsure ? ('unsure' as const) : reasonOf(error, query) };
    const told = isUnsure ? unsure : asSentence(error.message);
    if (flow)
      await recordRefusal(deps.ground.database, flow, { ...refused, detail: told }).catch(ignored(deps));
    return {
      ...refused,
      error: told,
      status: error.status === 503 ? 503 : 400,
      ...(await ofFlow(deps, flow)),
    };
  }
}

const unsure =
  'It is not known whether the account was connected: the database did not say in time. Look at the connection before you connect it again.';

/** A renewal that was signed in to another account than its own. */
const otherAccount = { reason: 'otherAccount' };

function reasonOf({ details }: Problem, query: CallbackQuery): 'denied' | 'failed' | 'otherAccount' {
  if (details.extra === otherAccount) return 'otherAccount';
  return query.error === 'access_denied' ? 'denied' : 'failed';
}

const asSentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** The person is told all the same. */
const ignored =
  ({ ground }: FlowDeps) =>
  (cause: unknown): void =>
    ground.log.warn({ err: cause }, 'how an OAuth flow ended could not be recorded');

async function ofFlow(
  { catalog, projects }: FlowDeps,
  flow: Flow | undefined,
): Promise<Pick<FlowEnd, 'provider' | 'projectId'> & { returnUrl?: string }> {
  if (!flow) return {};
  const { projectId, request } = flow;
  const returnUrl = await returnUrlOf(projects, flow);
  return {
    projectId,
    provider: nameOf(catalog, request.provider),
    ...(returnUrl === undefined ? {} : { returnUrl }),
  };
}

/** Where the browser goes on; nowhere when the origin was taken from the list meanwhile. */
async function returnUrlOf(
  projects: FlowDeps['projects'],
  { projectId, request: { returnUrl } }: Pick<Flow, 'projectId' | 'request'>,
): Promise<string | undefined> {
  if (returnUrl === undefined) return undefined;
  return projects.assertReturnUrl(projectId, returnUrl).then(
    () => returnUrl,
    () => undefined,
  );
}

/** The key or the link behind the flow is gone: nobody connects by it any more, and the page says so here. */
async function takenBack(deps: FlowDeps, flow: Flow): Promise<FlowEnd> {
  const error = 'The key or the link that this connection was begun with does not hold any more.';
  const reason = 'takenBack';
  await recordRefusal(deps.ground.database, flow, { reason, detail: error }).catch(ignored(deps));
  const { returnUrl: _unasked, ...told } = await ofFlow(deps, flow);
  return { reason, error, status: 400, ...told };
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
  return connect(deps, flow, provider, outcome, told);
}

async function connect(
  { ground }: FlowDeps,
  { projectId, request }: Flow,
  provider: Provider,
  granted: Granted,
  told: Redirected,
): Promise<string> {
  const { accessToken, refreshToken } = granted.answer;
  const proven = await prove(ground, {
    provider,
    authScheme: schemeOf(provider, 'oauth2AuthorizationCode'),
    secrets: { kind: 'authorizationCode', accessToken, ...(refreshToken ? { refreshToken } : {}) },
    providerAppId: request.providerAppId,
    scopes: request.scopes,
    granted,
    told,
    asked: { workspaceRef: request.workspaceRef, metadata: request.providerMetadata },
    account: asSignedIn(provider, request),
  });
  const { connectionId } = request;
  return keep(ground, projectId, proven, { owner: request, connectionId, despite: 'unsure' });
}

/** The provider says whose account the customer signed in to; the request only where the provider cannot. */
function asSignedIn(provider: Provider, request: Flow['request']): AccountRule {
  const isExplicit = provider.oauth2Opts?.explicitWorkspaceRequired;
  return {
    known: (learned) => (isExplicit ? { ...learned, workspaceRef: request.workspaceRef } : learned),
    settled(found) {
      const metadata = mergeMetadata(request.providerMetadata, found.metadata) ?? request.providerMetadata;
      const account = { ...found, metadata };
      return { ...account, workspaceRef: workspaceOf(provider, request, account) };
    },
  };
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
      extra: otherAccount,
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
