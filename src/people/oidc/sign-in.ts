import { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } from 'oauth4webapi';
import { Problem } from '../../kit/problem.ts';
import { beginAttempt, type Attempt } from '../failures.ts';
import type { Visitor } from '../sessions.ts';
import { enter, type SignInDeps } from '../sign-in.ts';
import type { SignInOptions } from '../schema.ts';
import { flowCookies, newFlow, ownPath, type Flow } from './flow.ts';
import { whose } from './identity.ts';
import { createOidcProvider, type Identity, type OidcProvider } from './provider.ts';
import type { OidcSettings } from './settings.ts';

export const oidcPath = '/callbacks/v1/oidc';

/** Where the browser goes on, and what it keeps. */
export interface Step {
  location: string;
  cookies: string[];
}

/**
 * Why signing in elsewhere came to nothing; the page of signing in says it (`ui/console/src/pages/door/sign-in.tsx`). `off`: it is
 * not set up; `over`: began in another browser, too long ago or used; `denied`: the provider says no; `failed`: the provider could
 * not be asked, or its answer does not hold.
 */
export type Refused = 'off' | 'over' | 'denied' | 'failed' | 'slowed' | 'unverified' | 'uninvited';

/** Signing in at an OpenID provider. Whatever it ends with, the browser goes on to a page of ours. */
export interface SignInElsewhere {
  option(): SignInOptions['oidc'];
  /** Throws invalid-request for a `returnTo` that is not a path of ours. */
  begin(returnTo: string | undefined, visitor: Visitor): Promise<Step>;
  end(query: URLSearchParams, cookies: string | undefined, visitor: Visitor): Promise<Step>;
}

/** The cookie of a session; undefined where a reset took the account there away in the same moment. The provider says how somebody proves themselves there. */
async function enterBy(
  deps: SignInDeps,
  { issuer, subject }: Identity,
  personId: string,
  visitor: Visitor,
): Promise<string | undefined> {
  try {
    return (await enter(deps, personId, visitor, { by: 'provider', issuer, subject })).cookie ?? '';
  } catch (error) {
    if (error instanceof Problem && error.code === 'sign-in-refused') return undefined;
    throw error;
  }
}

export function createSignInElsewhere(deps: SignInDeps, settings: OidcSettings | undefined): SignInElsewhere {
  const { publicUrl, vault, log } = deps.ground;
  const cookies = flowCookies(publicUrl, vault);
  const provider = settings && createOidcProvider(deps.ground, settings, publicUrl + oidcPath);

  const refusal = (refused: Refused, returnTo = '/'): Step => {
    const query = new URLSearchParams({ refused, ...(returnTo === '/' ? {} : { returnTo }) });
    return { location: `${publicUrl}/sign-in?${query.toString()}`, cookies: [] };
  };
  const told = (refused: Refused, { address, requestId }: Visitor, err?: unknown): Refused => {
    log.warn({ address, requestId, refused, said: wordsOf(err), err }, 'signing in elsewhere was refused');
    return refused;
  };

  /** The session that was opened, or why there is none. */
  async function finish(
    at: OidcProvider,
    flow: Flow,
    query: URLSearchParams,
    visitor: Visitor,
  ): Promise<{ cookie: string } | { refused: Refused }> {
    const attempt = await attempted(deps, visitor);
    if (!attempt) return { refused: told('slowed', visitor) };
    const identity = await identityOf(at, flow, query);
    if ('refused' in identity) return { refused: told(identity.refused, visitor, identity.cause) };
    await attempt.wasRight();
    const found = await whose(deps.ground, identity, visitor);
    if ('refused' in found) return { refused: told(found.refused, visitor, found.why) };
    deps.sessions.forgetPerson(found.person.id);
    if (found.person.operator) await deps.afterWelcome?.();
    const cookie = await enterBy(deps, identity, found.person.id, visitor);
    return cookie === undefined ? { refused: told('uninvited', visitor) } : { cookie };
  }

  return {
    option: () => settings && { name: settings.name, startUrl: `${publicUrl}${oidcPath}/start` },
    async begin(returnTo, visitor) {
      const flow = newFlow(ownPath(publicUrl, returnTo));
      if (!provider) return refusal('off', flow.returnTo);
      try {
        const { href } = await provider.authorizationUrl(flow);
        return { location: href, cookies: [cookies.keep(flow)] };
      } catch (error) {
        return refusal(told('failed', visitor, error), flow.returnTo);
      }
    },
    async end(query, given, visitor) {
      if (!provider) return refusal('off');
      const state = query.get('state') ?? '';
      const flow = cookies.read(state, given);
      if (!flow) return refusal(told('over', visitor));
      const ended = await finish(provider, flow, query, visitor);
      const clear = cookies.clear(state);
      if ('refused' in ended) return { ...refusal(ended.refused, flow.returnTo), cookies: [clear] };
      return { location: publicUrl + flow.returnTo, cookies: [ended.cookie, clear] };
    },
  };
}

async function identityOf(
  provider: OidcProvider,
  flow: Flow,
  query: URLSearchParams,
): Promise<Identity | { refused: Refused; cause: unknown }> {
  try {
    return await provider.identify(query, flow);
  } catch (cause) {
    return { refused: cause instanceof AuthorizationResponseError ? 'denied' : 'failed', cause };
  }
}

/** What the provider says of its refusal. Of its answer nothing else is logged: it may have tokens. */
function wordsOf(err: unknown): { error: string; detail: string } | undefined {
  const said = err instanceof WWWAuthenticateChallengeError ? err.cause[0]?.parameters : refusalOf(err);
  const { error = '', error_description: detail = '' } = said ?? {};
  return error === '' ? undefined : { error: error.slice(0, 100), detail: detail.slice(0, 500) };
}

function refusalOf(err: unknown): ResponseBodyError | AuthorizationResponseError | undefined {
  return err instanceof ResponseBodyError || err instanceof AuthorizationResponseError ? err : undefined;
}

/** Undefined while too much failed from this network. */
async function attempted(
  { ground: { database } }: SignInDeps,
  { address }: Visitor,
): Promise<Attempt | undefined> {
  try {
    return await beginAttempt(database, { address });
  } catch (error) {
    if (error instanceof Problem && error.code === 'sign-in-slowed') return undefined;
    throw error;
  }
}
