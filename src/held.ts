import type { Config } from './config.ts';
import { openDatabase, type Database } from './kit/db/database.ts';
import { atHealthPort } from './health.ts';
import { lookAtLineage } from './kit/db/lineage.ts';
import { createHttpServer, type HttpServer } from './kit/http/server.ts';
import type { Logger } from './kit/log.ts';
import { problem, type Problem } from './kit/problem.ts';
import { sleep } from './kit/retry.ts';
import { goOnPromoted } from './restore.ts';
import type { Say } from './say.ts';
import { listening } from './taken-port.ts';

const lookEveryMs = 1_000;

/** Why no node works, as its operator is told, and as whoever calls it is answered. */
interface Wait {
  says: string;
  level: 'info' | 'warn';
  answer(): Problem;
}

const recovering: Wait = {
  says: 'waiting for the database: the server is in recovery and takes no changes. Whether it was restored is known once it is promoted',
  level: 'warn',
  answer: () =>
    problem('database-unavailable', {
      detail:
        'The database server is in recovery and takes no changes: it is a replica, or a restore has not ended. Nothing was accepted.',
    }),
};

function heldBy(because: string): Wait {
  return {
    says: `The database is held: ${because}. Run svc restore resume to go on (see docs/operating.md).`,
    level: 'info',
    answer: () => problem('restored', { detail: `The database is held: ${because}.` }),
  };
}

/** At the ports of the role: those that call it and those that ask for its health hear the same. */
function serveAll(config: Config, log: Logger, role: string, answer: () => Problem): Promise<HttpServer[]> {
  const { port, proxyPort } = config;
  const serve = (at: number): Promise<HttpServer> => serveWaiting(config, log, at, answer);
  const forHealth = role === 'worker' || config.healthPort !== undefined ? [atHealthPort(config, serve)] : [];
  if (role === 'worker') return Promise.all(forHealth);
  return Promise.all([
    listening('SVC_PORT', port, () => serve(port)),
    listening('SVC_PROXY_PORT', proxyPort, () => serve(proxyPort)),
    ...forHealth,
  ]);
}

/**
 * Resolves once the nodes may work with the database. Until then the process is alive and not ready: `/healthz` answers,
 * everything else is the problem `restored`, or `database-unavailable` while nobody can tell.
 */
export async function untilResumed(
  { config, log, url, role }: { config: Config; log: Logger; url: string; role: string },
  isStopping: () => boolean,
  say: Say,
): Promise<void> {
  const database = openDatabase({ url, poolSize: 1, applicationName: 'svc start' });
  let told: Wait | undefined;
  let servers: HttpServer[] = [];
  try {
    for (;;) {
      const wait = await waitFor(database, config.failoverMs, log);
      if (wait === undefined || isStopping()) return;
      if (wait.says !== told?.says) say(wait.says, { level: wait.level });
      told = wait;
      if (servers.length === 0) servers = await serveAll(config, log, role, () => (told ?? wait).answer());
      await sleep(lookEveryMs);
    }
  } finally {
    await Promise.all([...servers.map((server) => server.close()), database.close()]);
  }
}

async function waitFor(database: Database, failoverMs: number, log: Logger): Promise<Wait | undefined> {
  const { verdict } = await lookAtLineage(database, { failoverMs }, () => goOnPromoted(database, log));
  if ('recovering' in verdict) return recovering;
  return 'held' in verdict ? heldBy(verdict.held) : undefined;
}

async function serveWaiting(
  config: Config,
  log: Logger,
  port: number,
  answer: () => Problem,
): Promise<HttpServer> {
  const server = createHttpServer({ log, bodyLimitBytes: 1024, trustedProxies: config.trustedProxies });
  server.addHook('onSend', async (_request, reply) => {
    const { code } = answer();
    // At the port of the proxy it tells that the answer is not the provider's.
    if (code === 'restored' || port === config.proxyPort) void reply.header('x-svc-problem', code);
  });
  server.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok' }));
  server.all('/*', { schema: { hide: true } }, async () => {
    throw answer();
  });
  await server.listen({ host: config.host, port });
  return server;
}
