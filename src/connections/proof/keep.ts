import { currentActor, record } from '../../events/index.ts';
import type { Queryable } from '../../kit/db/database.ts';
import type { Ground } from '../../kit/ground.ts';
import { newId } from '../../kit/ids.ts';
import { problem } from '../../kit/problem.ts';
import { hurry } from '../../lanes/index.ts';
import { openWindow } from '../budget/index.ts';
import { openSecrets, sealSecrets } from '../credentials/index.ts';
import { saveOwner, type Owner } from '../owner-store.ts';
import {
  findSameConnection,
  holdConnection,
  insertConnection,
  readToldOf,
  replaceCredentials,
  type ConnectionContent,
  type ConnectionKey,
} from '../store.ts';
import { refusalOfDoubt } from './health.ts';
import type { Proven } from './prove.ts';

/** Whose the credentials are, and what may speak against them. */
export interface Keeping {
  owner: Owner;
  /** The connection that is renewed; without it, the one of the same group, consumer, provider and account. */
  connectionId?: string | undefined;
  /**
   * `unsure`: also when nobody could tell whether they work; `any`: whatever the provider said. Both only where no credentials
   * that may work give way.
   */
  despite: 'none' | 'unsure' | 'any';
  /** The refresh token that these came for, which may be over since: a connection that holds it has nothing to lose. */
  spent?: string | undefined;
}

/**
 * Seals and stores what was proven and returns the connection's id. The same group, consumer, provider and account is the
 * same connection: its credentials are replaced and its id stays. Throws credentials-rejected or provider-unreachable for a
 * doubt that counts, and not-found when the connection that is renewed is gone.
 */
export async function keep(
  ground: Ground,
  projectId: string,
  proven: Proven,
  { owner, connectionId, despite, spent }: Keeping,
): Promise<string> {
  const { provider, secrets, doubt, ...rest } = proven;
  if (doubt && !isTolerated(doubt, despite)) throw refusalOfDoubt(provider, doubt);
  const described = { provider: provider.name, groupRef: owner.groupRef, credentials: secrets.kind };
  const contentFor = (id: string): ConnectionContent => ({
    ...rest,
    provider: provider.name,
    credentials: sealSecrets(ground.vault, projectId, id, secrets),
  });
  return ground.database.transaction(async (tx) => {
    await saveOwner(tx, projectId, owner, { mayRename: currentActor().kind !== 'jwt' });
    const known =
      connectionId ?? (await findSameConnection(tx, projectId, owner, provider.name, proven.workspaceRef));
    if (known !== undefined) {
      if (doubt && (await mayWork(ground, tx, [projectId, known], spent)))
        throw refusalOfDoubt(provider, doubt);
      const generation = await replaceCredentials(tx, [projectId, known], contentFor(known));
      if (generation !== undefined) {
        await openWindow(tx, [projectId, known], generation);
        // What waited for better credentials, or for the limit of the old ones, goes on. The lane of a connection has its id.
        await hurry(tx, projectId, known);
        await recordSaved(tx, [projectId, known], 'connection.updated', described);
        return known;
      }
      if (connectionId !== undefined)
        throw problem('not-found', { detail: `There is no connection ${connectionId}.` });
    }
    const id = newId();
    await insertConnection(tx, [projectId, id], owner, contentFor(id));
    await recordSaved(tx, [projectId, id], 'connection.created', described);
    return id;
  });
}

/** Whose account it is must be known, unless the credentials would be lost. */
function isTolerated(doubt: NonNullable<Proven['doubt']>, despite: Keeping['despite']): boolean {
  if (despite === 'unsure') return doubt.kind === 'unsure' && doubt.about === 'health';
  return despite === 'any';
}

/** Whether the connection has credentials that may work. They stay until others have passed their trial. */
async function mayWork(
  { vault }: Ground,
  tx: Queryable,
  key: ConnectionKey,
  spent: string | undefined,
): Promise<boolean> {
  const row = await holdConnection(tx, key);
  if (!row || row.status === 'bad_credentials') return false;
  if (spent === undefined) return true;
  const secrets = openSecrets(vault, ...key, row.credentials);
  return !('refreshToken' in secrets) || secrets.refreshToken !== spent;
}

async function recordSaved(
  tx: Queryable,
  key: ConnectionKey,
  action: 'connection.created' | 'connection.updated',
  details: Record<string, unknown>,
): Promise<void> {
  const [projectId, targetId] = key;
  await record(tx, { projectId, action, targetId, details, told: await readToldOf(tx, key, action) });
}
