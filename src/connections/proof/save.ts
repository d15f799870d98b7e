import { record } from '../../events/index.ts';
import type { Ground } from '../../kit/ground.ts';
import { newId } from '../../kit/ids.ts';
import { problem } from '../../kit/problem.ts';
import { recordConnectionEvent } from '../events/store.ts';
import { sealSecrets, type Secrets } from '../credentials/secrets.ts';
import {
  findSameConnection,
  insertConnection,
  replaceCredentials,
  saveOwner,
  type ConnectionContent,
  type Owner,
} from '../store.ts';

/** Credentials that were just obtained and found good, in clear, and whose they are. */
export interface NewCredentials extends Omit<ConnectionContent, 'credentials'> {
  owner: Owner;
  secrets: Secrets;
}

/**
 * Stores credentials and returns the connection's id. The same group, consumer, provider and account is the same connection:
 * its credentials are replaced and its id stays. With `connectionId` that one is renewed; not-found when it is gone.
 */
export async function saveCredentials(
  ground: Ground,
  projectId: string,
  given: NewCredentials,
  connectionId?: string,
): Promise<string> {
  const { owner, secrets } = given;
  const described = { provider: given.provider, groupRef: owner.groupRef, credentials: secrets.kind };
  const contentFor = (id: string): ConnectionContent => ({
    ...given,
    credentials: sealSecrets(ground.vault, projectId, id, secrets),
  });
  return ground.database.transaction(async (tx) => {
    await saveOwner(tx, projectId, owner);
    const known =
      connectionId ?? (await findSameConnection(tx, projectId, owner, given.provider, given.workspaceRef));
    if (known !== undefined) {
      const replaced = await replaceCredentials(tx, [projectId, known], contentFor(known));
      if (replaced) {
        await recordConnectionEvent(tx, [projectId, known], 'connection.updated');
        await record(tx, { projectId, action: 'connection.updated', targetId: known, details: described });
        return known;
      }
      if (connectionId !== undefined)
        throw problem('not-found', { detail: `There is no connection ${connectionId}.` });
    }
    const id = newId();
    await insertConnection(tx, [projectId, id], owner, contentFor(id));
    await recordConnectionEvent(tx, [projectId, id], 'connection.created');
    await record(tx, { projectId, action: 'connection.created', targetId: id, details: described });
    return id;
  });
}
