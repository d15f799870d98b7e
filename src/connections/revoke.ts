import type { Ground } from '../kit/ground.ts';
import { detailsOf } from '../events/index.ts';
import { sendHttp } from '../kit/http/client.ts';
import { Turns } from '../kit/turns.ts';
import type { Projects } from '../projects/index.ts';
import { providerUrl, type Catalog, type Provider } from '../providers/index.ts';
import { hasAccessToken, openIfReadable, placeOf, type Secrets } from './credentials/index.ts';
import type { Held } from './refresh/index.ts';
import { listSealedConnections, type SealedRow } from './sealed-store.ts';
import { whoseOf, type ConnectionKey, type ConnectionRow } from './store.ts';

const revokeTimeoutMs = 10_000;
/** A row that is committed now may have been written so much earlier. */
const transactionMs = 60_000;

interface Deps {
  ground: Ground;
  projects: Projects;
  catalog: Pick<Catalog, 'find' | 'list'>;
}

/** By another server: it was moved there, or came from there by a file and was not signed in here since. */
export function mayBeUsedElsewhere(row: Pick<ConnectionRow, 'is_moved' | 'came_in'>): boolean {
  return row.is_moved || row.came_in;
}

/**
 * Ends the authorization at the provider (RFC 7009) after a connection was deleted; not of one that was moved to another server,
 * or came from another one and was not signed in here since: that server may use it. Best effort: it never throws.
 */
export async function revokeAtProvider(
  { ground, projects, catalog }: Deps,
  held: Pick<Held, 'row' | 'secrets'>,
): Promise<void> {
  const { row } = held;
  const provider = catalog.find(row.provider);
  if (row.is_moved) return;
  try {
    const secrets = held.secrets();
    const revokeURL = provider?.oauth2Opts?.revokeURL;
    const token = tokenOf(secrets);
    if (!provider || !revokeURL || token === undefined || secrets.kind !== 'authorizationCode') return;
    if (row.came_in) {
      ground.log.info(
        whoseOf(row),
        'a deleted connection was not revoked at its provider, since it came in by a file: the server that it came from may use it',
      );
      return;
    }
    const app = await projects.getProviderApp(row.project_id, row.provider, row.provider_app_id ?? undefined);
    const form = new URLSearchParams({ token, client_id: app.clientId, client_secret: app.clientSecret });
    const url = providerUrl(provider, revokeURL, placeOf(provider, row.workspace_ref, row.provider_metadata));
    const ending = { ...row, app_client_id: app.clientId, token, others: endedWith(catalog, provider) };
    // Right before the request: what is connected after this look may end with it.
    if (await isShared(ground, ending)) return;
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };
    const result = await sendHttp(
      ground.egress,
      { method: 'POST', url, headers, body: form.toString() },
      { timeoutMs: revokeTimeoutMs },
    );
    const failed =
      'fault' in result
        ? result.fault.message
        : result.answer.status >= 300
          ? result.answer.status
          : undefined;
    if (failed !== undefined)
      ground.log.warn({ ...whoseOf(row), failed }, 'a deleted connection was not revoked');
  } catch (error) {
    ground.log.warn({ err: error, ...whoseOf(row) }, 'a deleted connection was not revoked');
  }
}

/**
 * The same with a pair that came once the connection was gone. The row of before the renewal does not tell what was so of it when it
 * was deleted: only the entry of its deletion does, and without one nothing is ended. Throws while that cannot be read.
 */
export async function revokeLate(deps: Deps, held: Pick<Held, 'row' | 'secrets'>): Promise<void> {
  const { database, log } = deps.ground;
  const { project_id: projectId, id } = held.row;
  const deletions = await detailsOf(database, projectId, 'connection.deleted', id);
  if (deletions.length > 0 && deletions.every((details) => details['mayBeUsedElsewhere'] === false))
    return revokeAtProvider(deps, held);
  log.info(
    whoseOf(held.row),
    'new tokens of a deleted connection were not revoked at its provider, since another server may use it',
  );
}

function tokenOf(secrets: Secrets): string | undefined {
  if (!hasAccessToken(secrets)) return undefined;
  return ('refreshToken' in secrets ? secrets.refreshToken : undefined) ?? secrets.accessToken;
}

/** What is about to be revoked. `others`: at which providers all else of the client and the account ends, too. */
interface Ending extends Omit<SealedRow, 'credentials'> {
  provider: string;
  token: string;
  others: readonly string[];
}

/** The providers whose connections end with one of the provider that is of the same client and account (BigQuery and Google). */
function endedWith({ list }: Deps['catalog'], { oauth2Opts }: Provider): string[] {
  if (!oauth2Opts?.revokesAuthorization) return [];
  return list().flatMap((one) => (one.oauth2Opts?.revokeURL === oauth2Opts.revokeURL ? [one.name] : []));
}

/**
 * Whether the revocation would end a connection that is there. A refresh token may belong to app and account, so that several hold it
 * (HubSpot); or a revocation ends all that the account gave the client. All of the provider are compared, since the account may be written
 * otherwise, which takes a while: what was connected meanwhile is looked at again.
 */
async function isShared(ground: Ground, ending: Ending): Promise<boolean> {
  const begunAt = performance.now();
  const { token, others, provider } = ending;
  const isEnded = (row: SealedRow): boolean => {
    const secrets = openIfReadable(ground.vault, row.project_id, row.id, row.credentials);
    // What cannot be read here may hold it where it is of the same account.
    if (!secrets) return row.workspace_ref === ending.workspace_ref;
    return tokenOf(secrets) === token || (others.length > 0 && mayBeOfOne(ending, row));
  };
  const providers = [...new Set([provider, ...others])];
  if (await isOneOf(ground, providers, isEnded)) return true;
  return isOneOf(ground, providers, isEnded, performance.now() - begunAt + transactionMs);
}

/** Whether two connections may be of one authorization. Of other groups it is not assumed where the account is not known: nothing would be revoked. */
function mayBeOfOne(one: Omit<SealedRow, 'credentials'>, other: SealedRow): boolean {
  if (other.app_client_id !== null && other.app_client_id !== one.app_client_id) return false;
  if (one.workspace_ref !== null && other.workspace_ref !== null)
    return one.workspace_ref === other.workspace_ref;
  return one.project_id === other.project_id && one.group_ref === other.group_ref;
}

async function isOneOf(
  { database }: Ground,
  providers: readonly string[],
  isEnded: (row: SealedRow) => boolean,
  changedMs?: number,
): Promise<boolean> {
  const turns = new Turns();
  let after: ConnectionKey | undefined;
  for (;;) {
    const rows = await listSealedConnections(database, providers, { after, changedMs });
    for (const row of rows) {
      if (isEnded(row)) return true;
      after = [row.project_id, row.id];
      await turns.pass();
    }
    if (rows.length === 0) return false;
  }
}
