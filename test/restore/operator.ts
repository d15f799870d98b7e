import { expect } from 'vitest';
import { startChild, type Child } from '../../scripts/child.ts';
import { freePort } from '../free-port.ts';

const masterKey = `t1:${Buffer.alloc(32, 7).toString('base64')}`;

/** Of a process on the database. */
export function envOf(url: string): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    DATABASE_URL: url,
    SVC_ENCRYPTION_KEYS: masterKey,
    SVC_LOG_LEVEL: 'warn',
  };
}

/** One command of the operator, to its end. */
export async function operate(
  url: string,
  ...words: string[]
): Promise<{ code: number | null; said: string }> {
  const child = startChild(['src/main.ts', ...words], { env: envOf(url) });
  const code = await new Promise<number | null>((resolve) => child.process.once('exit', resolve));
  return { code, said: child.said() };
}

/** A node that finds the database held. */
export async function startHeld(
  url: string,
  env: Record<string, string> = {},
): Promise<{ base: string; proxy: string; child: Child }> {
  const [port, proxyPort] = [await freePort(), await freePort()];
  const child = startChild(['src/main.ts'], {
    env: { ...envOf(url), SVC_PORT: String(port), SVC_PROXY_PORT: String(proxyPort), ...env },
  });
  const base = `http://127.0.0.1:${port}`;
  await expect.poll(() => child.said(), { timeout: 20_000 }).toContain('The database is held');
  await expect
    .poll(
      () =>
        fetch(`${base}/readyz`).then(
          ({ status }) => status,
          () => 0,
        ),
      { timeout: 5_000 },
    )
    .toBe(503);
  return { base, proxy: `http://127.0.0.1:${proxyPort}`, child };
}
