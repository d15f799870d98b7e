import type { Ground } from '../../kit/ground.ts';
import { setBadCredentials, setWorking, whoseOf, type ConnectionKey } from '../store.ts';
import type { HeldCache } from './held.ts';
import { noteRefusal } from './store.ts';

/** A provider may refuse good tokens for a while; access that was withdrawn is refused for longer. */
const refusedMs = 2 * 60_000;

/** Records what calls say of a connection. */
export interface Marks {
  /** A call succeeded: written only when the status changes, and off the path. */
  markWorking: (key: ConnectionKey) => void;
  /** A renewed token was refused: whether all have been for so long that they are dead. */
  markRefused: (key: ConnectionKey, generation: number) => Promise<boolean>;
  /** The provider refused one generation of the credentials; newer ones are left alone. */
  markBad: (key: ConnectionKey, generation: number, detail: string) => Promise<void>;
}

export function createMarks(
  { ground: { database, log }, onDead }: { ground: Ground; onDead: (key: ConnectionKey) => void },
  cache: HeldCache,
): Marks {
  const marking = new Set<string>();

  async function write(key: ConnectionKey, name: string): Promise<void> {
    try {
      await setWorking(database, key);
    } catch (error) {
      // The next call makes the mark.
      log.debug({ err: error, connectionId: key[1] }, 'a status was not marked');
    } finally {
      cache.expire(key);
      marking.delete(name);
    }
  }

  return {
    markWorking(key) {
      const name = key.join('/');
      const row = cache.peek(key)?.row;
      if ((row?.status !== 'created' && !row?.is_refused) || marking.has(name)) return;
      marking.add(name);
      void write(key, name);
    },
    async markRefused(key, generation) {
      const lastsMs = await noteRefusal(database, key, generation);
      cache.expire(key);
      return lastsMs !== undefined && lastsMs >= refusedMs;
    },
    async markBad(key, generation, detail) {
      const row = cache.peek(key)?.row;
      const changed = await setBadCredentials(database, key, { generation, detail });
      cache.invalidate(key);
      if (!changed) return;
      const [projectId, connectionId] = key;
      const whose = row ? whoseOf(row) : { projectId, connectionId };
      log.warn({ ...whose, detail }, 'a connection stopped working');
      onDead(key);
    },
  };
}
