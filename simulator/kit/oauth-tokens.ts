import type { Clock } from './clock.ts';
import type { Grant, GrantFile } from './grant-file.ts';
import type { Random } from './random.ts';

export type AccessToken = {
  token: string;
  grant: Grant;
  /** As granted when it was issued. */
  scopes: string[];
  issuedAt: number;
  /** Ms since the epoch; a provider with sliding sessions may move it. */
  expiresAt: number;
  revoked: boolean;
};

export type TokenStoreOptions = {
  accessLifeMs: () => number;
  mintAccess: (random: Random, account: string) => string;
  mintRefresh: (random: Random, account: string) => string;
  /** One refresh token per (client, account), as HubSpot has it. */
  sharedGrants?: boolean;
  /** A new refresh token on every refresh; using an old one revokes its family. */
  rotation?: boolean;
  /** Most live grants per (client, account); the oldest is revoked beyond. */
  grantCap?: number;
  /** Revoking a grant ends its access tokens too. */
  revokeEndsAccess?: boolean;
};

export type Filter = { token?: string; account?: string; clientId?: string };

export type TokenStore = {
  grant: (input: { clientId: string; account: string; scopes: string[] }) => Grant;
  issueAccess: (grant: Grant, lifeMs?: number) => AccessToken;
  /** A token without a refresh half, as client credentials give. */
  issueBare: (input: { clientId: string; account: string; scopes: string[] }) => AccessToken;
  access: (token: string) => AccessToken | undefined;
  /** The live grant of a refresh token. */
  grantOf: (refreshToken: string) => Grant | undefined;
  /** The grant to issue from, after rotation; a client id of '' in the grant fits every client. */
  refresh: (refreshToken: string, clientId: string, rotate?: boolean) => Grant | 'refresh' | 'reused';
  revokeGrant: (grant: Grant) => void;
  /** Both answer how many were hit; an empty filter means all. */
  expireAccess: (filter: Filter) => number;
  revokeAccess: (filter: Filter) => number;
  revokeRefresh: (filter: Filter) => number;
  clear: () => void;
};

type Ground = { clock: Clock; random: Random; kept?: { file: GrantFile; random: Random } };

const randomOf = ({ kept, random }: Ground): Random => kept?.random ?? random;
type AccessTokens = {
  issue: (grant: Grant, lifeMs?: number) => AccessToken;
  get: (token: string) => AccessToken | undefined;
  /** Changes all that fit and counts them. */
  each: (fits: (access: AccessToken) => boolean, change: (access: AccessToken) => void) => number;
  clear: () => void;
};

function createAccessTokens(ground: Ground, options: TokenStoreOptions): AccessTokens {
  const known = new Map<string, AccessToken>();
  function issue(grant: Grant, lifeMs = options.accessLifeMs()): AccessToken {
    const issuedAt = ground.clock.now();
    const token = options.mintAccess(randomOf(ground), grant.account);
    const access = {
      token,
      grant,
      scopes: [...grant.scopes],
      issuedAt,
      expiresAt: issuedAt + lifeMs,
      revoked: false,
    };
    known.set(token, access);
    return access;
  }
  function each(fits: (access: AccessToken) => boolean, change: (access: AccessToken) => void): number {
    const hit = [...known.values()].filter(fits);
    for (const one of hit) change(one);
    return hit.length;
  }
  return { issue, get: (token) => known.get(token), each, clear: () => known.clear() };
}

function fitsFilter(filter: Filter): (access: AccessToken) => boolean {
  return ({ token, grant }) =>
    (!filter.token || token === filter.token) &&
    (!filter.account || grant.account === filter.account) &&
    (!filter.clientId || grant.clientId === filter.clientId);
}

type GrantInput = { clientId: string; account: string; scopes: string[] };
type Known = { grant: Grant; spent: boolean };

function keptGrants({ kept }: Ground): Map<string, Known> {
  const grants = kept?.file.read() ?? [];
  return new Map(grants.map((grant) => [grant.refreshToken, { grant, spent: false }]));
}

function grantMaker(
  ground: Ground,
  options: TokenStoreOptions,
  kept: Map<string, Known>,
): (input: GrantInput) => Grant {
  let count = Math.max(0, ...[...kept.values()].map(({ grant }) => grant.id));
  return ({ clientId, account, scopes }) => {
    count += 1;
    const refreshToken = options.mintRefresh(randomOf(ground), account);
    const createdAt = ground.clock.now();
    return { id: count, clientId, account, scopes: [...scopes], refreshToken, revoked: false, createdAt };
  };
}

export function createTokenStore(ground: Ground, options: TokenStoreOptions): TokenStore {
  const accesses = createAccessTokens(ground, options);
  const refreshes = keptGrants(ground);
  const newGrant = grantMaker(ground, options, refreshes);
  const keep = (): void => ground.kept?.file.write(liveFitting(refreshes, {}));
  function grant(input: GrantInput): Grant {
    const siblings = live(refreshes, input);
    const shared = options.sharedGrants ? siblings[0] : undefined;
    if (shared) {
      shared.scopes = [...input.scopes];
      keep();
      return shared;
    }
    for (const old of excess(siblings, options.grantCap)) revokeGrant(old);
    const fresh = newGrant(input);
    refreshes.set(fresh.refreshToken, { grant: fresh, spent: false });
    keep();
    return fresh;
  }
  function refresh(
    token: string,
    clientId: string,
    rotate = options.rotation ?? false,
  ): Grant | 'refresh' | 'reused' {
    const known = refreshes.get(token);
    if (!known || known.grant.revoked) return 'refresh';
    if (known.grant.clientId !== '' && known.grant.clientId !== clientId) return 'refresh';
    if (known.spent) {
      revokeGrant(known.grant, true);
      return 'reused';
    }
    if (!rotate) return known.grant;
    const next = rotated(refreshes, known, options.mintRefresh(randomOf(ground), known.grant.account));
    keep();
    return next;
  }
  function revokeGrant(target: Grant, family = options.revokeEndsAccess ?? false): void {
    target.revoked = true;
    if (family) accesses.each((one) => one.grant === target, revoke);
    keep();
  }
  function clear(): void {
    accesses.clear();
    refreshes.clear();
    keep();
  }
  return {
    grant,
    issueAccess: accesses.issue,
    issueBare: (input) => accesses.issue(newGrant(input)),
    access: accesses.get,
    grantOf: (token) => liveGrant(refreshes.get(token)),
    refresh,
    revokeGrant: (target) => revokeGrant(target),
    expireAccess: (filter) => accesses.each(fitsFilter(filter), (one) => expire(one, ground.clock.now())),
    revokeAccess: (filter) => accesses.each(fitsFilter(filter), revoke),
    revokeRefresh: (filter) => liveFitting(refreshes, filter).map((one) => revokeGrant(one)).length,
    clear,
  };
}

/** Live grants of one client and account, oldest first. */
function live(refreshes: Map<string, Known>, { clientId, account }: GrantInput): Grant[] {
  const grants: Grant[] = [];
  for (const known of refreshes.values()) {
    const one = liveGrant(known);
    if (one?.clientId === clientId && one.account === account) grants.push(one);
  }
  return grants;
}

function liveGrant(known: Known | undefined): Grant | undefined {
  return known && !known.spent && !known.grant.revoked ? known.grant : undefined;
}

function revoke(access: AccessToken): void {
  access.revoked = true;
}

function expire(access: AccessToken, now: number): void {
  access.expiresAt = Math.min(access.expiresAt, now - 1000);
}

function rotated(refreshes: Map<string, Known>, known: Known, fresh: string): Grant {
  known.spent = true;
  known.grant.refreshToken = fresh;
  refreshes.set(fresh, { grant: known.grant, spent: false });
  return known.grant;
}

/** The oldest grants that have to go so that one more fits under the cap. */
function excess(siblings: Grant[], cap: number | undefined): Grant[] {
  return cap === undefined ? [] : siblings.slice(0, Math.max(0, siblings.length + 1 - cap));
}

function liveFitting(refreshes: Map<string, Known>, { token, account }: Filter): Grant[] {
  return [...refreshes]
    .filter(
      ([text, { grant, spent }]) =>
        !grant.revoked && (token ? text === token : !spent) && (!account || grant.account === account),
    )
    .map(([, { grant }]) => grant);
}
