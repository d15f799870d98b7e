import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { startHubspot } from '../../../simulator/hubspot/index.ts';
import type { Running } from '../../../simulator/kit/index.ts';
import { startSalesforce } from '../../../simulator/salesforce/index.ts';
import { exitCodes, Failure } from '../failure.ts';
import { ownKey } from './own-key.ts';

/** The server and the simulated providers on this machine. */
export interface LocalPlatform {
  url: string;
  proxyUrl: string;
  apiKey: string;
  /** Where each simulated provider is. */
  simulated: Readonly<Record<string, string>>;
  /** The server ended by itself. */
  ended: Promise<never>;
  stop(): Promise<void>;
}

const readyWithinMs = 120_000;

/** Starts both simulators here, and the server as a process of its own that calls them. What they keep is in the folder. Undefined where it was interrupted before. */
export async function startLocal(
  folder: string,
  port: number,
  interrupted: Promise<void>,
): Promise<LocalPlatform | undefined> {
  // What is connected knows the address of its account: the same ports as the time before, if they are free.
  const keep = async (name: string, wished: number) => ({
    port: await freePort(wished),
    keep: join(folder, `simulators/${name}-grants.json`),
  });
  const simulators: Record<string, Running> = {
    hubspot: await startHubspot(await keep('hubspot', port + 10)),
    salesforce: await startSalesforce(await keep('salesforce', port + 11)),
  };
  const simulated = Object.fromEntries(
    Object.entries(simulators).map(([name, { url }]) => [name, new URL(url).origin]),
  );
  const [ownPort, proxyPort] = [await freePort(port), await freePort(port + 1)];
  const url = `http://127.0.0.1:${ownPort}`;
  const dataDir = resolve(folder);
  const env = environmentOf({
    SVC_DATA_DIR: dataDir,
    SVC_PORT: String(ownPort),
    SVC_PROXY_PORT: String(proxyPort),
    SVC_PUBLIC_URL: url,
    SVC_PROVIDER_ORIGINS: Object.entries(simulated)
      .map((pair) => pair.join('='))
      .join(','),
  });
  const server = startServer(env);
  const stop = async (): Promise<void> => {
    await server.stop();
    await Promise.all(Object.values(simulators).map((one) => one.close()));
  };
  try {
    if (!(await isReady(url, server.ended, interrupted))) {
      await stop();
      return undefined;
    }
    const apiKey = await ownKey(url, join(dataDir, 'first-api-key'), env);
    return {
      url,
      proxyUrl: `http://127.0.0.1:${proxyPort}`,
      apiKey,
      simulated,
      ended: server.ended,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What leads to another database: in an operator's shell to the one in use, in a developer's to that of his application. */
const ofOtherDatabases = new Set(
  ['DATABASE_URL', 'SVC_DATABASE_DIRECT_URL'].flatMap((name) => [name, `${name}_FILE`]),
);

/** Of the server, and of what works on its database, which is always the one in the folder. */
function environmentOf(settings: Record<string, string>): NodeJS.ProcessEnv {
  const given = Object.entries(process.env).filter(([name]) => !ofOtherDatabases.has(name));
  return {
    SVC_EGRESS_ALLOW: '127.0.0.1',
    SVC_LOG_LEVEL: 'warn',
    SVC_LOG_FORMAT: 'text',
    SVC_DRAIN_MS: '0',
    ...Object.fromEntries(given),
    ...settings,
  };
}

/** `svc server`, quiet, by the same program as this one. */
function startServer(env: NodeJS.ProcessEnv) {
  const [, self = ''] = process.argv;
  const child = spawn(process.execPath, [self, 'server'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A Ctrl+C of the terminal comes from here, once what depends on it was told.
    detached: true,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-4_000)));
  const kill = (): boolean => child.kill('SIGTERM');
  process.once('exit', kill);
  let isStopping = false;
  const ended = once(child, 'exit').then(([code]) => {
    process.off('exit', kill);
    if (isStopping) return new Promise<never>(() => undefined);
    throw new Failure(
      `The server ended with ${String(code)}: ${said.trim()}`,
      'Correct that and run the command again.',
    );
  });
  ended.catch(() => undefined);
  return {
    ended,
    async stop(): Promise<void> {
      isStopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const over = once(child, 'exit');
      kill();
      await over;
    },
  };
}

/** Once it is; false where it is interrupted before. */
async function isReady(url: string, ended: Promise<never>, interrupted: Promise<void>): Promise<boolean> {
  const over = interrupted.then(() => 'over' as const);
  const giveUpAt = Date.now() + readyWithinMs;
  while (Date.now() < giveUpAt) {
    const answer = await Promise.race([fetch(`${url}/readyz`).catch(() => undefined), ended, over]);
    if (answer === 'over') return false;
    if (answer?.ok) return true;
    await new Promise((go) => setTimeout(go, 50));
  }
  throw new Failure(
    'The server was not ready within two minutes.',
    'Run `svc server` to see why.',
    exitCodes.unreachable,
  );
}

/** The wished port if nothing listens there, else any free one. */
async function freePort(wished: number): Promise<number> {
  const probe = createServer();
  try {
    await once(probe.listen(wished, '127.0.0.1'), 'listening');
  } catch (error) {
    if (wished === 0) throw error;
    return freePort(0);
  }
  const address = probe.address();
  const closed = once(probe, 'close');
  probe.close();
  await closed;
  return typeof address === 'object' && address ? address.port : 0;
}
