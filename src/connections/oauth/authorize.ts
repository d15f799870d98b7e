import { problem } from '../../kit/problem.ts';
import {
  providerUrl,
  signInUrlsOf,
  workspaceNeeded,
  type ConnectionPlace,
  type Provider,
} from '../../providers/index.ts';

/** What the authorization URL is built from, besides the provider's declaration. */
export interface AuthorizeInput {
  place: ConnectionPlace;
  clientId: string;
  scopes: string[];
  /** Parameters that the builder set on the provider app, such as HubSpot's optional scopes. */
  extra: Record<string, string[]>;
  redirectUri: string;
  challenge: string;
}

/** Throws auth-scheme-mismatch for a provider that is not connected in the browser, naming what it needs instead. */
export function assertAuthorizes(provider: Provider): NonNullable<Provider['oauth2Opts']> {
  const oauth = provider.oauth2Opts;
  if (provider.authType === 'oauth2' && oauth?.authURL && oauth.grantType.startsWith('authorizationCode'))
    return oauth;
  throw problem('auth-scheme-mismatch', {
    detail: `${provider.displayName} is not connected through OAuth in a browser.`,
    remedy: 'Send the credentials to POST /v1/projects/{project}/connections:generate.',
  });
}

/** The scopes to ask for; throws provider-app-invalid where the provider demands some and nobody named any. */
export function scopesFor(provider: Provider, appScopes: readonly string[] | undefined): string[] {
  const scopes = appScopes && appScopes.length > 0 ? appScopes : (provider.oauth2Opts?.defaultScopes ?? []);
  if (scopes.length === 0 && provider.oauth2Opts?.explicitScopesRequired) {
    throw problem('provider-app-invalid', {
      detail: `${provider.displayName} asks for scopes, and the provider app names none.`,
      remedy: 'Set `scopes` on the provider app.',
    });
  }
  return [...scopes];
}

/** The URL to send the browser to, but for the state (RFC 6749, 4.1.1; RFC 7636, 4.3). Throws invalid-request for a missing workspace. */
export function authorizationUrl(provider: Provider, input: AuthorizeInput): string {
  const oauth = assertAuthorizes(provider);
  const isAccountOpen = oauth.explicitWorkspaceRequired && !input.place.workspaceRef;
  if (isAccountOpen && !oauth.withoutWorkspace) throw workspaceNeeded(provider);
  const url = new URL(providerUrl(provider, signInUrlsOf(provider, input.place).authURL ?? '', input.place));
  const separator = oauth.scopeSeparator;
  const extra = Object.entries(input.extra).map(([name, values]) => [name, values.join(separator)]);
  const fixed = Object.entries(oauth.authURLParams ?? {}).map(
    ([name, text]) => [name, providerUrl(provider, text, input.place)] as const,
  );
  const params: Record<string, string> = {
    ...Object.fromEntries(fixed),
    ...(oauth.audience ? { audience: oauth.audience.join(' ') } : {}),
    ...Object.fromEntries(extra),
    // Ours come last: nothing may stand in for the redirect.
    response_type: 'code',
    client_id: input.clientId,
    redirect_uri: input.redirectUri,
    ...(input.scopes.length > 0 ? { scope: input.scopes.join(separator) } : {}),
    ...(oauth.pkce ? { code_challenge: input.challenge, code_challenge_method: 'S256' } : {}),
  };
  // The state is ours alone, and the last parameter.
  delete params['state'];
  // %20, not +: some consent pages show the plus signs (RFC 3986 knows no +).
  const query = Object.entries(params).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  url.search = [...(url.search ? [url.search.slice(1)] : []), ...query].join('&');
  return url.href;
}

export function withState(authorizeUrl: string, state: string): string {
  return `${authorizeUrl}&state=${encodeURIComponent(state)}`;
}
