import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import OidcProvider from 'oidc-provider';

/** What an OpenID provider says of somebody. */
export interface Account {
  email?: string;
  email_verified?: boolean;
  name?: string;
}

/** A certified OpenID provider, where everybody of `accounts` signs in by their name alone. */
export interface OidcServer {
  issuer: string;
  clientId: string;
  clientSecret: string;
  accounts: Record<string, Account>;
  /** Serves, with this redirect URI of the client. */
  begin(redirectUri: string): Promise<void>;
  /** Goes on from the address of authorization as somebody does in a browser; answers where the provider sends it back to. */
  signIn(authorizationUrl: string, account: string): Promise<string>;
  close(): Promise<void>;
}

export async function startOidcServer(): Promise<OidcServer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = { clientId: 'svc-console', clientSecret: 'a secret: of the builder/100%' };
  const accounts: Record<string, Account> = {};
  return {
    issuer,
    ...client,
    accounts,
    async begin(redirectUri) {
      const provider = new OidcProvider(issuer, await configuration(client, redirectUri, accounts));
      server.on('request', provider.callback());
    },
    signIn,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function configuration(
  { clientId, clientSecret }: { clientId: string; clientSecret: string },
  redirectUri: string,
  accounts: Record<string, Account>,
): Promise<Record<string, unknown>> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    ttl: { AccessToken: 3_600, Grant: 3_600, IdToken: 3_600, Interaction: 3_600, Session: 3_600 },
    pkce: { required: () => true },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['of this test'] },
    findAccount: (_context: unknown, accountId: string) =>
      accounts[accountId] && { accountId, claims: () => ({ sub: accountId, ...accounts[accountId] }) },
    // Nobody is asked whether svc may know who they are.
    async loadExistingGrant({ oidc }: GrantContext) {
      const grant = new oidc.provider.Grant({
        accountId: oidc.session.accountId,
        clientId: oidc.client.clientId,
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  };
}

interface GrantContext {
  oidc: {
    provider: OidcProvider;
    session: { accountId: string };
    client: { clientId: string };
  };
}

async function signIn(authorizationUrl: string, account: string): Promise<string> {
  const { origin } = new URL(authorizationUrl);
  const jar = new Map<string, string>();
  const visit = async (url: URL, body?: URLSearchParams): Promise<URL> => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, {
      method: body ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { cookie },
      ...(body ? { body } : {}),
    });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`${url.href}: ${answer.status} ${await answer.text()}`);
    return new URL(location, origin);
  };
  let next = await visit(new URL(authorizationUrl));
  while (next.origin === origin) {
    const isAsked = next.pathname.startsWith('/interaction/');
    const typed = new URLSearchParams({ prompt: 'login', login: account, password: 'any' });
    next = await visit(next, isAsked ? typed : undefined);
  }
  return next.href;
}
