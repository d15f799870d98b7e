import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'pg';
import type { Cluster } from './cluster.ts';
import { openServer, type RunningServer } from './server.ts';

/** One owner per cluster: 'svc' and 2, held in the session of the owner's connection. */
const ownerLock = [0x73_76_63, 2] as const;
/** The session of an owner that was killed ends within milliseconds. */
const lockWaitMs = 2_000;
const maxBackoffMs = 5_000;

/** Another process owns the cluster. */
export class ClusterInUse extends Error {
  override readonly name = 'ClusterInUse';
}

/** The running server, owned by this process until it is let go of. */
export interface Ownership {
  server: RunningServer;
  /** Ends the watch and gives the lock back; the server runs on. Resolves with the server as it is now. */
  letGo(): Promise<RunningServer>;
}

/** Opens the server and takes the lock; from then on restarts the server whenever the connection that holds the lock breaks. */
export async function own(cluster: Cluster, log: (line: string) => void): Promise<Ownership> {
  let current = await openOwned(cluster, log);
  let letGo = false;
  let recovery: Promise<void> | undefined;

  function watch(client: Client): void {
    client.once('end', () => {
      if (!letGo) recovery = recover();
    });
  }

  async function recover(): Promise<void> {
    log('embedded PostgreSQL: the connection to it broke; bringing it back');
    for (let backoff = 50; ; backoff = Math.min(backoff * 2, maxBackoffMs)) {
      if (letGo) return;
      try {
        current = await openOwned(cluster, log);
        watch(current.client);
        log(
          `embedded PostgreSQL: ${current.adopted ? 'answers' : 'was started'} again, process ${current.pid}`,
        );
        return;
      } catch (error) {
        log(`embedded PostgreSQL: not back yet: ${error instanceof Error ? error.message : String(error)}`);
        await sleep(backoff);
      }
    }
  }

  watch(current.client);
  return {
    server: current,
    letGo: async () => {
      letGo = true;
      await recovery;
      await current.client.end().catch(() => undefined);
      return current;
    },
  };
}

async function openOwned(cluster: Cluster, log: (line: string) => void): Promise<RunningServer> {
  const server = await openServer(cluster, log);
  try {
    await takeLock(cluster, server.client);
    return server;
  } catch (error) {
    await server.client.end().catch(() => undefined);
    throw error;
  }
}

async function takeLock(cluster: Cluster, client: Client): Promise<void> {
  const giveUpAt = Date.now() + lockWaitMs;
  for (;;) {
    const tried = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS taken', [
      ...ownerLock,
    ]);
    if (tried.rows[0]?.taken) return;
    if (Date.now() > giveUpAt) break;
    await sleep(25);
  }
  const holder = await client.query<{ name: string }>(
    `SELECT a.application_name AS name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
     WHERE l.locktype = 'advisory' AND l.granted AND l.classid = $1 AND l.objid = $2`,
    [...ownerLock],
  );
  throw new ClusterInUse(
    `The embedded database in ${cluster.home} is in use by another process (${holder.rows[0]?.name ?? 'unknown'}). Stop that one, set DATABASE_URL to a server that both share, or set SVC_DATA_DIR to another folder.`,
  );
}
