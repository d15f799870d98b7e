import { setTimeout as sleep } from 'node:timers/promises';
import { briefConnection, placed } from './brief.ts';
import { isDatabaseAway, isOutage, isRefused } from './faults.ts';
import { faultOfVersion } from './examine.ts';

const pauseMs = 500;
const sayEveryMs = 3_000;

/**
 * Resolves when the database answers; says every few seconds what it waits for. Throws what waiting does not mend, and after `patienceMs` why it
 * does not answer.
 */
export async function untilDatabaseAnswers(
  url: string,
  sayFault: (fault: string) => void,
  patienceMs = Infinity,
): Promise<void> {
  const until = performance.now() + patienceMs;
  let saidAt = -Infinity;
  for (;;) {
    const fault = await faultOf(url);
    if (fault === undefined) return;
    if (performance.now() >= until) throw fault;
    if (performance.now() - saidAt >= sayEveryMs) {
      sayFault(fault.message === '' ? 'it does not answer' : fault.message);
      saidAt = performance.now();
    }
    await sleep(pauseMs);
  }
}

/** Takes a step of the start again when the database goes away in it, or takes no changes. The step leaves nothing behind that a second one minds. */
export async function despiteOutages<Value>(
  step: () => Promise<Value>,
  {
    url,
    sayLost,
    sayFault,
    patienceMs = Infinity,
  }: {
    url: string;
    sayLost: (why: unknown) => void;
    sayFault: (fault: string) => void;
    patienceMs?: number;
  },
): Promise<Value> {
  const until = performance.now() + patienceMs;
  let saidAt = -Infinity;
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!isOutage(error) || isRefused(error) || performance.now() >= until) throw error;
      if (performance.now() - saidAt >= sayEveryMs) {
        sayLost(error);
        saidAt = performance.now();
      }
    }
    await sleep(pauseMs);
    await untilDatabaseAnswers(url, sayFault, until - performance.now());
  }
}

async function faultOf(url: string): Promise<Error | undefined> {
  const client = briefConnection(url, 'svc start', 3_000);
  try {
    await client.connect();
    const { rows } = await client.query<{ version: number }>(
      "SELECT current_setting('server_version_num')::int AS version",
    );
    const old = faultOfVersion(rows[0]?.version ?? 0);
    if (old === undefined) return undefined;
    throw new Error(`${old}: upgrade the server`);
  } catch (error) {
    if (!isDatabaseAway(error)) throw error;
    return placed(url, error) as Error;
  } finally {
    await client.end().catch(() => undefined);
  }
}
