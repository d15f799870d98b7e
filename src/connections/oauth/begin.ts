import { currentActor } from '../../events/index.ts';
import type { Ground } from '../../kit/ground.ts';
import { refuse } from '../../kit/problem.ts';
import type { Projects } from '../../projects/index.ts';
import { notAllowed, type Catalog, type Provider } from '../../providers/index.ts';
import { placeOf } from '../credentials/index.ts';
import type { OAuthConnectRequest } from '../schema.ts';
import type { ConnectionRow } from '../store.ts';
import { assertAuthorizes, authorizationUrl, scopesFor, withState } from './authorize.ts';
import { marking, secretIn, startLink } from './browser.ts';
import { bindFlow, saveFlow, type FlowRequest } from './flow-store.ts';
import { newState, newVerifier } from './state.ts';

export interface FlowDeps {
  ground: Ground;
  projects: Projects;
  catalog: Catalog;
}

/** Where providers send the browser back to; builders register it with their OAuth client. */
export function redirectUriOf(ground: Ground): string {
  return `${ground.publicUrl}/callbacks/v1/oauth`;
}

/** Starts the connecting of a new account and returns the link to open. */
export async function beginConnect(
  deps: FlowDeps,
  projectId: string,
  request: OAuthConnectRequest,
): Promise<string> {
  const provider = deps.catalog.get(request.provider);
  assertAuthorizes(provider);
  assertAllowed(provider, request.providerMetadata);
  if (request.returnUrl !== undefined) await deps.projects.assertReturnUrl(projectId, request.returnUrl);
  return begin(deps, projectId, provider, {
    groupRef: request.groupRef,
    consumerRef: request.consumerRef,
    ...(request.groupName === undefined ? {} : { groupName: request.groupName }),
    ...(request.consumerName === undefined ? {} : { consumerName: request.consumerName }),
    ...(request.providerWorkspaceRef === undefined ? {} : { workspaceRef: request.providerWorkspaceRef }),
    ...(request.returnUrl === undefined ? {} : { returnUrl: request.returnUrl }),
    ...(request.providerAppId === undefined ? {} : { providerAppId: request.providerAppId }),
    providerMetadata: request.providerMetadata ?? {},
  });
}

/** Also an input that only the exchange of the code needs: the person is not sent to the provider in vain. */
function assertAllowed(provider: Provider, metadata: OAuthConnectRequest['providerMetadata'] = {}): void {
  const issues = Object.entries(metadata).flatMap(([input, { value }]) => {
    const detail = notAllowed(provider, input, value);
    return detail === undefined
      ? []
      : [{ in: 'body' as const, name: `providerMetadata.${input}`, detail, value }];
  });
  if (issues.length > 0) throw refuse(issues);
}

/** Starts the renewing of a connection in place; its credentials stay until the new ones are here. */
export function beginUpdate(deps: FlowDeps, row: ConnectionRow): Promise<string> {
  const provider = deps.catalog.get(row.provider);
  assertAuthorizes(provider);
  return begin(deps, row.project_id, provider, {
    groupRef: row.group_ref,
    consumerRef: row.consumer_ref,
    ...(row.workspace_ref === null ? {} : { workspaceRef: row.workspace_ref }),
    // One that was deleted gives way to the default of the provider.
    ...(row.provider_app_id === null || row.app_client_id === null
      ? {}
      : { providerAppId: row.provider_app_id }),
    providerMetadata: row.provider_metadata,
    connectionId: row.id,
  });
}

type Asked = Omit<FlowRequest, 'provider' | 'providerAppId' | 'scopes' | 'authorizeUrl' | 'startedBy'> & {
  providerAppId?: string;
};

async function begin(deps: FlowDeps, projectId: string, provider: Provider, asked: Asked): Promise<string> {
  const { ground, projects } = deps;
  const app = await projects.getProviderApp(projectId, provider.name, asked.providerAppId);
  const scopes = scopesFor(provider, app.scopes);
  const state = newState();
  const { verifier, challenge } = newVerifier();
  const authorizeUrl = authorizationUrl(provider, {
    place: placeOf(provider, asked.workspaceRef, asked.providerMetadata),
    clientId: app.clientId,
    scopes,
    extra: app.metadata?.authQueryParams ?? {},
    redirectUri: redirectUriOf(ground),
    challenge,
  });
  const request: FlowRequest = {
    ...asked,
    provider: provider.name,
    providerAppId: app.id,
    scopes,
    authorizeUrl,
    startedBy: currentActor(),
  };
  await saveFlow(ground.database, ground.vault, state, { projectId, request, verifier });
  return startLink(ground.publicUrl, state);
}

/** Where a browser that opens a link goes on, and the cookie that it takes along. */
export interface Opened {
  location: string;
  cookie: string;
}

/** Binds the flow to the browser that opens the link first; undefined when it is another's, unknown, used or over. */
export async function openFlow(
  { ground: { database, publicUrl } }: FlowDeps,
  state: string,
  cookies: string | undefined,
): Promise<Opened | undefined> {
  const secret = secretIn(publicUrl, state, cookies) ?? newState();
  const request = await bindFlow(database, { state, secret });
  if (!request) return undefined;
  return { location: withState(request.authorizeUrl, state), cookie: marking(publicUrl, state, secret) };
}
