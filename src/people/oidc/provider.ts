import * as oauth from 'oauth4webapi';
import { sendHttp } from '../../kit/http/client.ts';
import { isShownName } from '../../kit/reference-schema.ts';
import type { PeopleGround } from '../sessions.ts';
import type { OidcSettings } from './settings.ts';

const timeoutMs = 10_000;
const maxAnswerBytes = 1024 * 1024;
/** Addresses and keys of a provider are read again after so long. */
const discoveryMs = 15 * 60_000;

/** Made once for each sign-in; the answer must fit all of it. */
export interface Expected {
  state: string;
  nonce: string;
  verifier: string;
}

/** Who somebody is there. `email` only where the provider says that it was verified. */
export interface Identity {
  issuer: string;
  subject: string;
  email: string | undefined;
  name: string | undefined;
}

/** The OpenID provider of this service. Every request goes the way of all outgoing calls. */
export interface OidcProvider {
  /** Where the browser goes. */
  authorizationUrl(expected: Expected): Promise<URL>;
  /** Throws oauth.AuthorizationResponseError for a refusal of the provider, and an Error for what does not fit. */
  identify(query: URLSearchParams, expected: Expected): Promise<Identity>;
}

export function createOidcProvider(
  { egress }: PeopleGround,
  settings: OidcSettings,
  redirectUri: string,
): OidcProvider {
  const { issuer, clientId } = settings;
  const options = optionsOf(egress, issuer);
  const discover = remembered(async () => {
    const url = new URL(issuer);
    const answer = await oauth.discoveryRequest(url, options);
    return oauth.processDiscoveryResponse(url, answer);
  });
  return {
    async authorizationUrl({ state, nonce, verifier }) {
      const { authorization_endpoint: endpoint } = await discover();
      const url = URL.parse(endpoint ?? '');
      if (!url || !/^https?:$/.test(url.protocol))
        throw new Error('the provider names no authorization endpoint');
      const params = {
        client_id: clientId,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      };
      for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
      return url;
    },
    async identify(query, expected) {
      const asked = { ...settings, redirectUri, server: await discover(), options };
      return identityFrom(asked.server.issuer, await claimsOf(asked, query, expected));
    },
  };
}

const optionsOf = (egress: PeopleGround['egress'], issuer: string) => ({
  // The settings let http through for this machine only.
  [oauth.allowInsecureRequests]: issuer.startsWith('http:'),
  [oauth.customFetch]: (url: string, init: Sent) => dial(egress, url, init),
  [oauth.jwksCache]: {},
});

interface Asked extends OidcSettings {
  redirectUri: string;
  server: oauth.AuthorizationServer;
  options: ReturnType<typeof optionsOf>;
}

/** What the provider says of who signed in: in the ID token, and where that has no address, when it is asked. */
async function claimsOf(
  { clientId, clientSecret, redirectUri, server, options }: Asked,
  query: URLSearchParams,
  { state, nonce, verifier }: Expected,
): Promise<Claims> {
  const client: oauth.Client = { client_id: clientId };
  const params = oauth.validateAuthResponse(server, client, query, state);
  const auth = authenticationAt(server, clientSecret);
  const answer = await oauth.authorizationCodeGrantRequest(
    server,
    client,
    auth,
    params,
    redirectUri,
    verifier,
    options,
  );
  const check = { expectedNonce: nonce, requireIdToken: true };
  const given = await oauth.processAuthorizationCodeResponse(server, client, answer, check);
  await oauth.validateApplicationLevelSignature(server, answer, options);
  const claims = oauth.getValidatedIdTokenClaims(given);
  if (!claims) throw new Error('the answer has no ID token');
  if (claims['email'] !== undefined || !server.userinfo_endpoint) return claims;
  const told = await oauth.userInfoRequest(server, client, given.access_token, options);
  return oauth.processUserInfoResponse(server, client, claims.sub, told);
}

type Claims = { readonly sub: string } & { readonly [name: string]: unknown };

function identityFrom(issuer: string, claims: Claims): Identity {
  // The database keeps no NUL; nobody has one in a name.
  const text = (name: string): string | undefined => {
    const value = claims[name];
    return typeof value === 'string' && value !== '' && !value.includes('\0') ? value : undefined;
  };
  const subject = text('sub');
  if (subject === undefined) throw new Error('the subject is empty, or has a NUL');
  // Some write the boolean as text.
  const isVerified = claims['email_verified'] === true || claims['email_verified'] === 'true';
  const name = text('name')?.slice(0, 128);
  return {
    issuer,
    subject,
    email: isVerified ? text('email')?.toLowerCase() : undefined,
    name: name !== undefined && isShownName(name) ? name : undefined,
  };
}

/** In the body where the provider takes that: in the header some do not undo the encoding. */
function authenticationAt(server: oauth.AuthorizationServer, secret: string): oauth.ClientAuth {
  const taken = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  return taken.includes('client_secret_post')
    ? oauth.ClientSecretPost(secret)
    : oauth.ClientSecretBasic(secret);
}

interface Sent {
  method: string;
  headers: Record<string, string>;
  body?: unknown;
}

async function dial(egress: PeopleGround['egress'], url: string, init: Sent): Promise<Response> {
  const method = init.method === 'POST' ? 'POST' : 'GET';
  const body = method === 'POST' ? { body: String(init.body) } : {};
  const request = { method, url, headers: init.headers, ...body } as const;
  const sent = await sendHttp(egress, request, { timeoutMs, maxAnswerBytes });
  if ('fault' in sent) throw new Error(`${new URL(url).host} did not answer: ${sent.fault.message}`);
  const { status, headers, body: text } = sent.answer;
  const kept = ['content-type', 'www-authenticate'].flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, String(value)] as [string, string]];
  });
  return new Response([204, 205, 304].includes(status) ? null : text, { status, headers: kept });
}

/** Asked for once at a time, and again after a while or a failure. */
function remembered<Value>(load: () => Promise<Value>): () => Promise<Value> {
  let known: { value: Promise<Value>; until: number } | undefined;
  return () => {
    if (known && performance.now() < known.until) return known.value;
    const entry = { value: load(), until: performance.now() + discoveryMs };
    known = entry;
    entry.value.catch(() => {
      if (known === entry) known = undefined;
    });
    return entry.value;
  };
}
