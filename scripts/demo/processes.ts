import { createServer } from 'node:net';
import { startHubspot } from '../../simulator/hubspot/index.ts';
import { startSalesforce } from '../../simulator/salesforce/index.ts';
import { startChild, untilReady } from '../child.ts';
import { simulated } from '../simulated.ts';

/** What the demo runs beside itself. */
export interface Stage {
  base: string;
  proxy: string;
  hubspot: string;
  salesforce: string;
  /** Resolves with the exit code if the platform ends by itself. */
  ended: Promise<number | null>;
  close(): Promise<void>;
}

/** Starts both simulators in this process and the platform as a child, as `npm start` would. */
export async function startStage(dataDir: string): Promise<Stage> {
  const [hubspot, salesforce] = await Promise.all([
    startHubspot({ records: 200 }),
    startSalesforce({ records: 200 }),
  ]);
  const [port, proxyPort] = [await portOf('SVC_PORT', 4000), await portOf('SVC_PROXY_PORT', 4001)];
  const base = `http://127.0.0.1:${port}`;
  const platform = startChild(['src/main.ts'], {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      ...(process.env['DATABASE_URL']
        ? {
            DATABASE_URL: process.env['DATABASE_URL'],
            SVC_ENCRYPTION_KEYS: process.env['SVC_ENCRYPTION_KEYS'],
          }
        : {}),
      SVC_DATA_DIR: dataDir,
      SVC_PORT: String(port),
      SVC_PROXY_PORT: String(proxyPort),
      SVC_PUBLIC_URL: base,
      SVC_LOG_LEVEL: 'warn',
      // What keeps it from starting is shown to a person.
      SVC_LOG_FORMAT: 'text',
      ...simulated({ hubspot: hubspot.url, salesforce: salesforce.url }, '127.0.0.1'),
    },
  });
  // However this process ends, the platform does not outlive it.
  const child = platform.process;
  process.once('exit', () => child.kill('SIGTERM'));
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const close = async (): Promise<void> => {
    await platform.end();
    await Promise.all([hubspot.close(), salesforce.close()]);
  };
  await untilReady(base, platform).catch(async (error: unknown) => {
    const said = child.exitCode === null ? '' : platform.said().trim();
    await close();
    throw said === '' ? error : new Error(said);
  });
  return {
    base,
    proxy: `http://127.0.0.1:${proxyPort}`,
    hubspot: hubspot.url,
    salesforce: salesforce.url,
    ended,
    close,
  };
}

/** The port that was asked for, where one was. */
async function portOf(variable: string, usual: number): Promise<number | string> {
  return process.env[variable] ?? freePort(usual);
}

/** The wished port if nothing listens there, else any free one. */
export function freePort(wished: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', () => (wished === 0 ? reject(new Error('no free port')) : resolve(freePort(0))));
    probe.listen(wished, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}
