import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { exportJWK, generateKeyPair } from 'jose';
import OidcProvider from 'oidc-provider';

const clientId = 'svc';
const clientSecret = 'a-secret-of-the-builder';

/** A certified OAuth server that gives a new refresh token at each refresh, and ends the family when an old one comes back. */
export interface RotatingServer {
  url: string;
  clientId: string;
  clientSecret: string;
  /** How many token requests came, whatever was answered. */
  requests(): number;
  /** The families that were ended, oldest first. */
  revoked: string[];
  /** From now on the token endpoint answers this much after it did its work. */
  delayTokens(ms: number): void;
  /** The token pair that a customer's consent gives. */
  authorize(accountId: string): Promise<{ accessToken: string; refreshToken: string; family: string }>;
  /** Ends an access token before its time; the refresh token lives on. */
  endAccess(accessToken: string): Promise<void>;
  close(): Promise<void>;
}

export async function startRotatingServer(): Promise<RotatingServer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new OidcProvider(url, await configuration());
  const revoked: string[] = [];
  let requests = 0;
  let delayMs = 0;
  provider.on('grant.revoked', (_context, grantId) => void revoked.push(grantId));
  provider.use(async ({ path }, next) => {
    if (path === '/token') requests += 1;
    await next();
    if (path === '/token' && delayMs > 0) await sleep(delayMs);
  });
  server.on('request', provider.callback());
  return {
    url,
    clientId,
    clientSecret,
    requests: () => requests,
    revoked,
    delayTokens(ms) {
      delayMs = ms;
    },
    authorize: (accountId) => authorize(provider, accountId),
    async endAccess(accessToken) {
      await (await provider.AccessToken.find(accessToken))?.destroy();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function configuration(): Promise<Record<string, unknown>> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        grant_types: ['authorization_code', 'refresh_token'],
        redirect_uris: ['http://svc.test/callbacks/v1/oauth'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    rotateRefreshToken: true,
    scopes: ['openid', 'offline_access'],
    ttl: { AccessToken: 3_600, Grant: 86_400, RefreshToken: 86_400, IdToken: 3_600 },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['of this test'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId }),
    }),
  };
}

async function authorize(
  provider: OidcProvider,
  accountId: string,
): Promise<{ accessToken: string; refreshToken: string; family: string }> {
  const scope = 'openid offline_access';
  const grant = new provider.Grant({ accountId, clientId });
  grant.addOIDCScope(scope);
  const family = await grant.save();
  const client = await provider.Client.find(clientId);
  const shared = { accountId, client, grantId: family, gty: 'authorization_code', scope };
  return {
    accessToken: await new provider.AccessToken(shared).save(),
    refreshToken: await new provider.RefreshToken(shared).save(),
    family,
  };
}
