import { crashPoint } from '../../kit/crash-point.ts';
import { faultOf } from '../../kit/db/faults.ts';
import type { Ground } from '../../kit/ground.ts';
import { declareCounter } from '../../kit/metrics.ts';
import { problem } from '../../kit/problem.ts';
import { sleep } from '../../kit/retry.ts';
import type { Projects } from '../../projects/index.ts';
import { baseUrlOf, type Catalog, type Provider } from '../../providers/index.ts';
import {
  badCredentials,
  mergeMetadata,
  openSecrets,
  placeOf,
  restMs,
  sealSecrets,
  type Secrets,
} from '../credentials/index.ts';
import type { ProviderMetadata } from '../schema.ts';
import {
  readConnection,
  setBadCredentials,
  whoseOf,
  type ConnectionKey,
  type ConnectionRow,
} from '../store.ts';
import {
  asCustomers,
  refusalOf,
  requestToken,
  untilStored,
  type Begun,
  type Granted,
  type NewTokens,
  type Waiting,
} from '../tokens/index.ts';
import { patienceMs, takeLease, type Lease } from './lease.ts';
import { leftOf, renewalOf } from './renewal.ts';
import { commitRefresh, type Refreshed } from './store.ts';

export const tokenRefreshes = declareCounter('svc_token_refreshes_total', 'Refreshes of access tokens.', [
  'provider',
  'outcome',
]);

const waitFirstMs = 100;
const waitMostMs = 1_000;

/** Why a newer access token is wanted: the one in place is about to be over, or was refused. */
export type Cause = 'age' | '401';

export interface RefreshDeps {
  ground: Ground;
  projects: Projects;
  catalog: Catalog;
  newTokens: NewTokens;
  /** Told each connection whose credentials are found dead here. */
  onDead: (key: ConnectionKey) => void;
  /** Told what came for a connection that was deleted meanwhile. */
  onGone: (row: ConnectionRow, secrets: Secrets) => Promise<void>;
}

/** Brings a connection past a generation whose access token is stale; one token request per generation over all nodes. */
export interface Refresher {
  /**
   * The row with newer credentials; after a 401 the row as it is, when a 401 asked for its token already. Throws
   * `connection-bad-credentials` when the provider withdrew them, `provider-app-invalid` when the builder's client is at
   * fault, `provider-unreachable` when it may work later, and `database-unavailable` while a new pair cannot be stored.
   */
  past(key: ConnectionKey, generation: number, cause: Cause): Promise<ConnectionRow>;
}

interface Running extends Begun<ConnectionRow> {
  generation: number;
}

/** One refresh under way: why, and what to do when the new pair has to wait for the database. */
interface Refreshing extends Waiting {
  generation: number;
  cause: Cause;
}

export function createRefresher(deps: RefreshDeps): Refresher {
  const running = new Map<string, Running>();

  function begin(key: ConnectionKey, generation: number, cause: Cause): Running {
    const name = key.join('/');
    const begun = {
      generation,
      ...deps.newTokens.begin(
        (waiting) => refreshOrWait(deps, key, { generation, cause, ...waiting }),
        () => problem('database-unavailable'),
      ),
    };
    running.set(name, begun);
    void begun.end.finally(() => {
      if (running.get(name) === begun) running.delete(name);
    });
    return begun;
  }

  return {
    async past(key, generation, cause) {
      const joined = running.get(key.join('/'));
      if (joined && joined.generation >= generation) return joined.result;
      return begin(key, generation, cause).result;
    },
  };
}

/** Whether a 401 asked for the token in place, so that one more is for another reason. */
function isResting({ unauthorized_ms_ago: ago }: ConnectionRow): boolean {
  return ago !== null && ago < restMs;
}

async function refreshOrWait(
  deps: RefreshDeps,
  key: ConnectionKey,
  refreshing: Refreshing,
): Promise<ConnectionRow> {
  const { database } = deps.ground;
  const { generation, cause } = refreshing;
  const wanted = { generation, ...(cause === '401' ? { restMs } : {}) };
  const giveUpAt = performance.now() + patienceMs;
  for (let pauseMs = waitFirstMs; ; pauseMs = Math.min(waitMostMs, pauseMs * 2)) {
    const lease = await takeLease(database, key, wanted);
    const row = await readConnection(database, key);
    if (!row) throw problem('not-found', { detail: `There is no connection ${key[1]}.` });
    // Also of a lease that was ours: what is read with it may be newer than what it was taken for.
    if (row.generation > generation) return row;
    if (row.status === 'bad_credentials') throw badCredentials(row);
    if (lease) return refreshUnder(deps, row, lease, refreshing);
    if (cause === '401' && isResting(row)) return row;
    if (performance.now() > giveUpAt) {
      throw problem('provider-unreachable', {
        detail: 'Another node has been refreshing the access token for too long.',
      });
    }
    await sleep(pauseMs);
  }
}

/** Holds the lease of the row. Whatever happens, the lease is given back or taken over by the commit. */
async function refreshUnder(
  deps: RefreshDeps,
  row: ConnectionRow,
  lease: Lease,
  refreshing: Refreshing,
): Promise<ConnectionRow> {
  const { ground } = deps;
  lease.keep();
  try {
    const secrets = openSecrets(ground.vault, row.project_id, row.id, row.credentials);
    return await renewWith(deps, row, secrets, { lease, ...refreshing });
  } catch (error) {
    await lease.giveBack().catch((cause: unknown) => {
      ground.log.warn(
        { err: cause, ...whoseOf(row) },
        'the refresh lease could not be given back; it ends by itself',
      );
    });
    throw error;
  } finally {
    lease.end();
  }
}

/** Asks with the secrets, then with what is left of them when they are refused. Only the last refusal condemns. */
async function renewWith(
  deps: RefreshDeps,
  row: ConnectionRow,
  secrets: Secrets,
  under: Refreshing & { lease: Lease },
): Promise<ConnectionRow> {
  const { ground, catalog } = deps;
  const { lease, cause } = under;
  const { fence } = lease;
  const key: ConnectionKey = [row.project_id, row.id];
  const provider = catalog.get(row.provider);
  const renewal = await renewalOf(deps.projects, provider, row, secrets);
  if ('without' in renewal) return condemn(deps, row, fence, renewal.without);
  const place = placeOf(provider, row.workspace_ref, row.provider_metadata);
  const { client, grant } = renewal;
  const outcome = await requestToken(ground, provider, place, client, grant, {
    maySend: () => lease.holds(),
  });
  if (outcome.kind === 'withheld') return readBack(deps, key, row.generation);
  if (outcome.kind === 'granted') crashPoint('after-refresh');
  tokenRefreshes.in(ground.metrics).inc({ provider: row.provider, outcome: outcome.kind });
  if (outcome.kind === 'granted') {
    const pair = pairOf(deps, provider, row, secrets, outcome);
    return storePair(deps, row, { ...pair, fence, unauthorized: cause === '401' }, under);
  }
  const refusal = secrets.kind === 'authorizationCode' ? outcome : asCustomers(outcome);
  if (refusal.kind !== 'revoked') throw refusalOf(refusal, provider);
  const left = leftOf(secrets);
  if (!left) return condemn(deps, row, fence, refusal.message);
  // Each request has the whole lease, and none is made for credentials that were replaced meanwhile.
  return (await lease.extend()) ? renewWith(deps, row, left, under) : readBack(deps, key, row.generation);
}

type Pair = Omit<Refreshed, 'fence' | 'unauthorized' | 'issuedAgoMs' | 'expiresInMs'> & {
  /** By performance.now(). */
  askedAt: number;
  lifeMs: number | undefined;
};

/** What is to be stored, sealed. */
function pairOf(
  { ground }: RefreshDeps,
  provider: Provider,
  row: ConnectionRow,
  secrets: Secrets,
  { answer, askedAt }: Granted,
): Pair {
  // Without a new refresh token the old one stays (RFC 6749, 6).
  const renewed: Secrets = {
    ...secrets,
    accessToken: answer.accessToken,
    ...(answer.refreshToken === undefined ? {} : { refreshToken: answer.refreshToken }),
  } as Secrets;
  return {
    generation: row.generation,
    credentials: sealSecrets(ground.vault, row.project_id, row.id, renewed),
    scopes: answer.scopes,
    metadataOn:
      movedMetadata(ground, provider, row, answer.metadata) &&
      ((known) => mergeMetadata(known, answer.metadata)),
    askedAt,
    lifeMs: answer.expiresInMs,
  };
}

/**
 * Stores the pair. It gives way only to newer credentials. Somebody who took the lease over meanwhile is waited for: what
 * they find with the old pair is wrong.
 */
async function storePair(
  deps: RefreshDeps,
  row: ConnectionRow,
  { askedAt, lifeMs, ...pair }: Pair & Pick<Refreshed, 'fence' | 'unauthorized'>,
  waiting: Waiting,
): Promise<ConnectionRow> {
  const { database, log } = deps.ground;
  const key: ConnectionKey = [row.project_id, row.id];
  let less: typeof withoutDetails | undefined;
  const store = async (): Promise<{ found: ConnectionRow | undefined } | undefined> => {
    const agoMs = performance.now() - askedAt;
    const expiresInMs = lifeMs === undefined ? undefined : lifeMs - agoMs;
    let isStored: boolean;
    try {
      isStored = await commitRefresh(database, key, { ...pair, issuedAgoMs: agoMs, expiresInMs, ...less });
    } catch (error) {
      if (faultOf(error) !== 'data') throw error;
      if (!less)
        log.warn({ err: error, ...whoseOf(row) }, 'a value beside new tokens was refused; it is left out');
      less = withoutDetails;
      return undefined;
    }
    const found = await readConnection(database, key);
    if (!isStored && !found) {
      log.info(whoseOf(row), 'a connection was deleted while its token was renewed');
      await deps.onGone(row, openSecrets(deps.ground.vault, row.project_id, row.id, pair.credentials));
    }
    if (!isStored && found && found.generation === row.generation) return undefined;
    if (!isStored && found) noteDropped(log, found, pair);
    return { found };
  };
  const note: Parameters<typeof untilStored>[2] = (details) =>
    log.warn({ ...details, ...whoseOf(row) }, 'new tokens could not be stored yet');
  const { found } = (await untilStored(waiting, store, note)) ?? { found: row };
  return usable(key, found);
}

/** What the tokens work without. */
const withoutDetails = { scopes: undefined, metadataOn: undefined, expiresInMs: undefined };

/** After a new sign-in nothing is lost. A pair that is in place was stored by a try whose answer was lost. */
function noteDropped(
  log: Ground['log'],
  found: ConnectionRow,
  { credentials }: Pick<Pair, 'credentials'>,
): void {
  if (found.credentials.equals(credentials)) return;
  const level = found.is_moved || found.came_in ? 'error' : 'info';
  log[level](
    whoseOf(found),
    'new tokens were dropped: an export moved the connection away or it was given other credentials while they were not stored; if it does not work where it is used, the customer connects again',
  );
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
    log.warn({ err: error, ...whoseOf(row) }, 'a token response names a foreign API address');
    return undefined;
  }
}

/** `invalid_grant` is believed only when nobody stored a newer pair meanwhile (docs/invariants.md, 18). */
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
  log.warn({ ...whoseOf(row), detail }, 'a connection stopped working');
  deps.onDead(key);
  throw badCredentials({ id: row.id, status_detail: detail });
}

async function readBack(deps: RefreshDeps, key: ConnectionKey, generation: number): Promise<ConnectionRow> {
  const row = usable(key, await readConnection(deps.ground.database, key));
  if (row.generation === generation)
    throw problem('provider-unreachable', { detail: 'The refresh of the access token took too long.' });
  return row;
}

function usable([, id]: ConnectionKey, row: ConnectionRow | undefined): ConnectionRow {
  if (!row) throw problem('not-found', { detail: `There is no connection ${id}.` });
  if (row.status === 'bad_credentials') throw badCredentials(row);
  return row;
}
