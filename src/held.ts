import type { Config } from './config.ts';
import { openDatabase, type Database } from './kit/db/database.ts';
import { isReadOnly } from './kit/db/faults.ts';
import { atHealthPort } from './health.ts';
import { lookAtLineage } from './kit/db/lineage.ts';
import { createHttpServer, type HttpServer } from './kit/http/server.ts';
import type { Logger } from './kit/log.ts';
import { problem } from './kit/problem.ts';
import { sleep } from './kit/retry.ts';
import { listening } from './taken-port.ts';

const lookEveryMs = 1_000;

/** At the ports of the role: those that call it and those that ask for its health hear the same. */
function serveAll(config: Config, log: Logger, role: string, because: string): Promise<HttpServer[]> {
  const { port, proxyPort } = config;
  const serve = (at: number): Promise<HttpServer> => serveHeld(config, log, at, because);
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
 * everything else is the problem `restored`.
 */
export async function untilResumed(
  { config, log, url, role }: { config: Config; log: Logger; url: string; role: string },
  isStopping: () => boolean,
  say: (line: string) => void,
): Promise<void> {
  const database = openDatabase({ url, poolSize: 1, applicationName: 'svc start' });
  const held: { because?: string; servers: HttpServer[] } = { servers: [] };
  try {
    for (;;) {
      const because = await heldBecause(database, config.failoverMs, log);
      if (because === undefined || isStopping()) return;
      if (held.servers.length === 0) {
        say(`The database is held: ${because}. Run svc restore resume to go on (see docs/operating.md).`);
        held.servers = await serveAll(config, log, role, because);
      }
      await sleep(lookEveryMs);
    }
  } finally {
    await Promise.all([...held.servers.map((server) => server.close()), database.close()]);
  }
}

async function heldBecause(database: Database, failoverMs: number, log: Logger): Promise<string | undefined> {
  try {
    const { verdict } = await lookAtLineage(database, { failoverMs });
    if ('promoted' in verdict) log.warn('the database was recovered a moment ago: a replica was promoted');
    return 'held' in verdict ? verdict.held : undefined;
  } catch (error) {
    // One that takes no changes lets nobody work; it is looked at again while it is used.
    if (isReadOnly(error)) return undefined;
    throw error;
  }
}

async function serveHeld(config: Config, log: Logger, port: number, because: string): Promise<HttpServer> {
  const server = createHttpServer({ log, bodyLimitBytes: 1024, trustedProxies: config.trustedProxies });
  // At the port of the proxy it tells that the answer is not the provider's.
  server.addHook('onSend', async (_request, reply) => void reply.header('x-svc-problem', 'restored'));
  server.get('/healthz', { schema: { hide: true } }, async () => ({ status: 'ok' }));
  server.all('/*', { schema: { hide: true } }, async () => {
    throw problem('restored', { detail: `The database is held: ${because}.` });
  });
  await server.listen({ host: config.host, port });
  return server;
}
