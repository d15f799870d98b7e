import { ensureCluster } from './cluster.ts';
import { own } from './owner.ts';
import { settle } from './place.ts';
import { stopServer } from './server.ts';

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
  /** Stops the server in order and waits until it is gone. */
  stop(): Promise<void>;
  /** Gives up ownership; the server keeps running. */
  release(): Promise<void>;
}

/**
 * Starts the embedded PostgreSQL, or adopts the one left behind in `dataDir`. Throws, with the remedy,
 * when another process owns it, another major version made it, or it cannot run here.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const log = options.log ?? (() => undefined);
  const cluster = await ensureCluster(await settle(options.dataDir, log));
  const ownership = await own(cluster, log);
  const { url, adopted } = ownership.server;
  return {
    url,
    dataDir: cluster.home,
    version: cluster.binaries.version,
    adopted,
    stop: async () => stopServer(cluster, (await ownership.letGo()).pid),
    release: async () => {
      await ownership.letGo();
    },
  };
}
