import { crashPoint } from '../kit/crash-point.ts';
import type { Ground } from '../kit/ground.ts';
import { newId } from '../kit/ids.ts';
import { problem } from '../kit/problem.ts';
import { sleep } from '../kit/retry.ts';
import { baseUrlOf, type Catalog, type Provider } from '../providers/index.ts';
import type { Projects } from '../projects/index.ts';
import { requestToken, type TokenOutcome } from './oauth/token.ts';
import { mergeMetadata, placeOf } from './metadata.ts';
import { badCredentials, refusalOf } from './refusal.ts';
import { commitRefresh, extendRefreshLease, releaseRefreshLease, takeRefreshLease } from './refresh-store.ts';
import { renewalOf } from './renewal.ts';
import type { ProviderMetadata } from './schema.ts';
import { openSecrets, sealSecrets, type Secrets } from './secrets.ts';
import { readConnection, setBadCredentials, type ConnectionKey, type ConnectionRow } from './store.ts';

/** Twice the token endpoint's time limit, and extended while a call lasts: a lease never ends under one. */
const leaseMs = 90_000;
const extendEveryMs = leaseMs / 3;
const waitFirstMs = 100;
const waitMostMs = 1_000;

export interface RefreshDeps {
  ground: Ground;
  projects: Projects;
  catalog: Catalog;
}

/** Brings a connection past a generation whose access token is stale; one token request per generation over all nodes. */
export interface Refresher {
  /**
   * The row with newer credentials. Throws `connection-bad-credentials` when the provider withdrew them,
   * `provider-app-invalid` when the builder's client is at fault, and `provider-unreachable` when it may work later.
   */
  past(key: ConnectionKey, generation: number): Promise<ConnectionRow>;
}

export function createRefresher(deps: RefreshDeps): Refresher {
  const running = new Map<string, { generation: number; result: Promise<ConnectionRow> }>();

  async function past(key: ConnectionKey, generation: number): Promise<ConnectionRow> {
    const name = key.join('/');
    const joined = running.get(name);
    if (joined && joined.generation >= generation) return joined.result;
    const result = refreshOrWait(deps, key, generation).finally(() => {
      if (running.get(name)?.result === result) running.delete(name);
    });
    running.set(name, { generation, result });
    return result;
  }

  return { past };
}

async function refreshOrWait(
  deps: RefreshDeps,
  key: ConnectionKey,
  generation: number,
): Promise<ConnectionRow> {
  const { database } = deps.ground;
  const giveUpAt = performance.now() + leaseMs + 10_000;
  for (let pauseMs = waitFirstMs; ; pauseMs = Math.min(waitMostMs, pauseMs * 2)) {
    const fence = newId();
    const isOurs = await takeRefreshLease(database, key, { generation, fence, forMs: leaseMs });
    const row = await readConnection(database, key);
    if (!row) throw problem('not-found', { detail: `There is no connection ${key[1]}.` });
    if (isOurs) return refreshUnder(deps, row, fence);
    if (row.generation > generation) return row;
    if (row.status === 'bad_credentials') throw badCredentials(row);
    if (performance.now() > giveUpAt) {
      throw problem('provider-unreachable', {
        detail: 'Another node has been refreshing the access token for too long.',
      });
    }
    await sleep(pauseMs);
  }
}

/** Holds the lease of the row. Whatever happens, the lease is given back or taken over by the commit. */
async function refreshUnder(deps: RefreshDeps, row: ConnectionRow, fence: string): Promise<ConnectionRow> {
  const { ground, catalog } = deps;
  const key: ConnectionKey = [row.project_id, row.id];
  const extending = setInterval(() => {
    // Without the database the lease ends by itself, later than the token endpoint's time limit.
    extendRefreshLease(ground.database, key, { fence, forMs: leaseMs }).catch(() => undefined);
  }, extendEveryMs);
  try {
    const provider = catalog.get(row.provider);
    const secrets = openSecrets(ground.vault, row.project_id, row.id, row.credentials);
    const renewal = await renewalOf(deps.projects, provider, row, secrets);
    if (!renewal)
      return await condemn(
        deps,
        row,
        fence,
        'The provider no longer accepts the access token, and there is no refresh token.',
      );
    const place = placeOf(provider, row.workspace_ref, row.provider_metadata);
    const outcome = await requestToken(ground, provider, place, renewal.client, renewal.grant);
    if (outcome.kind === 'granted') crashPoint('after-refresh');
    ground.metrics.tokenRefreshes.inc({ provider: row.provider, outcome: outcome.kind });
    if (outcome.kind === 'granted') return await commit(deps, provider, row, fence, secrets, outcome);
    // A client that belongs to the customer is part of the credentials; the builder's client is not (providers H1).
    const isCustomers =
      outcome.kind === 'revoked' || (outcome.kind === 'config' && secrets.kind !== 'authorizationCode');
    if (isCustomers) return await condemn(deps, row, fence, outcome.message);
    throw refusalOf(outcome, provider);
  } catch (error) {
    await releaseRefreshLease(ground.database, key, fence).catch((cause: unknown) => {
      ground.log.warn(
        { err: cause, connectionId: row.id },
        'the refresh lease could not be given back; it ends by itself',
      );
    });
    throw error;
  } finally {
    clearInterval(extending);
  }
}

async function commit(
  deps: RefreshDeps,
  provider: Provider,
  row: ConnectionRow,
  fence: string,
  secrets: Secrets,
  { answer, askedAt }: Extract<TokenOutcome, { kind: 'granted' }>,
): Promise<ConnectionRow> {
  const { database, vault } = deps.ground;
  const key: ConnectionKey = [row.project_id, row.id];
  // Without a new refresh token the old one stays (RFC 6749, 6).
  const renewed: Secrets = {
    ...secrets,
    accessToken: answer.accessToken,
    ...(answer.refreshToken === undefined ? {} : { refreshToken: answer.refreshToken }),
  } as Secrets;
  const agoMs = performance.now() - askedAt;
  await commitRefresh(database, key, {
    fence,
    credentials: sealSecrets(vault, row.project_id, row.id, renewed),
    scopes: answer.scopes,
    providerMetadata: movedMetadata(deps.ground, provider, row, answer.metadata),
    issuedAgoMs: agoMs,
    expiresInMs: answer.expiresInMs === undefined ? undefined : answer.expiresInMs - agoMs,
  });
  // With the fence lost, what is stored belongs to a newer authorization and is the one to use.
  return readBack(deps, key, row.generation);
}

/** What the answer says of the account, when it is new. A foreign API address is not taken over, but the tokens are good. */
function movedMetadata(
  { log }: Ground,
  provider: Provider,
  row: ConnectionRow,
  found: ProviderMetadata,
): ProviderMetadata | undefined {
  const merged = mergeMetadata(row.provider_metadata, found);
  if (!merged) return undefined;
  try {
    baseUrlOf(provider, placeOf(provider, row.workspace_ref, merged));
    return merged;
  } catch (error) {
    log.warn(
      { err: error, connectionId: row.id, provider: row.provider },
      'a token response names a foreign API address',
    );
    return undefined;
  }
}

/** `invalid_grant` is believed only when nobody stored a newer pair meanwhile (reliability 4). */
async function condemn(
  deps: RefreshDeps,
  row: ConnectionRow,
  fence: string,
  detail: string,
): Promise<ConnectionRow> {
  const { database, log } = deps.ground;
  const key: ConnectionKey = [row.project_id, row.id];
  const condemned = await setBadCredentials(database, key, { generation: row.generation, detail, fence });
  if (!condemned) return readBack(deps, key, row.generation);
  log.warn(
    { connectionId: row.id, projectId: row.project_id, provider: row.provider, detail },
    'a connection stopped working',
  );
  throw badCredentials({ id: row.id, status_detail: detail });
}

async function readBack(deps: RefreshDeps, key: ConnectionKey, generation: number): Promise<ConnectionRow> {
  const row = await readConnection(deps.ground.database, key);
  if (!row) throw problem('not-found', { detail: `There is no connection ${key[1]}.` });
  if (row.status === 'bad_credentials') throw badCredentials(row);
  if (row.generation === generation)
    throw problem('provider-unreachable', { detail: 'The refresh of the access token took too long.' });
  return row;
}
