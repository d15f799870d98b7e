import { ensureCluster, type Cluster } from './cluster.ts';
import { ClusterInUse, own } from './owner.ts';
import { hasCluster, settle } from './place.ts';
import { openServer, stopServer } from './server.ts';

export interface EmbeddedOptions {
  /** Where the database lives. As root it may have to go elsewhere; the server's `dataDir` says where it is. */
  dataDir: string;
  /** Called with one line for everything unusual. */
  log?: (line: string) => void;
}

/** A PostgreSQL that this process alone owns and restarts when it dies. */
export interface EmbeddedServer {
  /** Holds the password: not for logs. */
  url: string;
  /** The folder where it really is. */
  dataDir: string;
  /** The version of the binaries, such as `18.4.0-beta.17`. */
  version: string;
  /** True when it was still running from a process that died. */
  adopted: boolean;
  /** Stops the server in order and waits until it is gone; once, however often it is called. */
  stop(): Promise<void>;
  /** Gives up ownership; the server keeps running. */
  release(): Promise<void>;
}

/**
 * Starts the embedded PostgreSQL, or adopts the one left behind in `dataDir`. Throws, with the remedy,
 * when another process owns it, another major version made it, or it cannot run here.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const log = options.log ?? ignore;
  return owned(await ensureCluster(await settle(options.dataDir, log)), log);
}

/**
 * Opens the embedded PostgreSQL that is there, beside the process that owns it or, when there is none, as its owner.
 * Undefined when none was ever made in `dataDir`; none is made.
 */
export async function joinEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer | undefined> {
  if (!(await hasCluster(options.dataDir))) return undefined;
  const log = options.log ?? ignore;
  const cluster = await ensureCluster(await settle(options.dataDir, log));
  try {
    return await owned(cluster, log);
  } catch (error) {
    if (!(error instanceof ClusterInUse)) throw error;
    const { client, url } = await openServer(cluster, log);
    await client.end();
    const leave = async (): Promise<void> => undefined;
    return { ...described(cluster), url, adopted: true, stop: leave, release: leave };
  }
}

async function owned(cluster: Cluster, log: (line: string) => void): Promise<EmbeddedServer> {
  const ownership = await own(cluster, log);
  const { url, adopted } = ownership.server;
  const stop = async (): Promise<void> => stopServer(cluster, (await ownership.letGo()).pid);
  let stopped: Promise<void> | undefined;
  return {
    ...described(cluster),
    url,
    adopted,
    stop: () => (stopped ??= stop()),
    release: async () => {
      await ownership.letGo();
    },
  };
}

const described = ({ home, binaries }: Cluster) => ({ dataDir: home, version: binaries.version });

const ignore = (): void => undefined;
