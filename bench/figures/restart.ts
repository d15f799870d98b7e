import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { freePort } from '../../test/free-port.ts';
import type { Figure } from '../figure.ts';
import { timed } from '../load.ts';
import { findNginx, startNginx } from '../nginx.ts';
import { plainRecord, startProvider } from '../provider.ts';
import { startStage, type Node } from '../stage.ts';

const program = findNginx();
const callers = 8;
const pauseMs = 20;
/** So long nothing is accepted now and then, when nobody restarts anything. */
const gapMs = 250;

/** The time of all gaps between moments, in seconds, and the longest in milliseconds. */
function gapsIn(moments: readonly number[]): { seconds: number; longestMs: number } {
  const gaps = moments.slice(1).map((at, n) => at - (moments[n] ?? at));
  const seconds = gaps.filter((gap) => gap > gapMs).reduce((sum, gap) => sum + gap, 0) / 1_000;
  return { seconds, longestMs: Math.round(Math.max(...gaps)) };
}

/** A rolling restart of two processes behind a reverse proxy, while writes are accepted. A request that fails ends it. */
export const restart: Figure = {
  id: 'restart',
  about: `seconds in which no write is accepted (gaps beyond ${gapMs} ms) while two processes behind nginx are restarted one after the other, ${callers} callers`,
  unit: 's',
  yardstick: 'the same time without a restart',
  goal: { of: 'difference', atMost: 0 },
  ...(program === undefined
    ? { skipped: 'nginx is not installed (Debian: apt-get install nginx-light)' }
    : {}),
  prepare: async () => {
    const provider = await startProvider(callers);
    const [one, other] = [{ SVC_PORT: String(await freePort()) }, { SVC_PORT: String(await freePort()) }];
    const stage = await startStage(provider.origin, { groups: provider.groups, env: one });
    const nodes: { env: Record<string, string>; node: Node }[] = [
      { env: one, node: stage },
      { env: other, node: await stage.startAnother(other) },
    ];
    const nginx = await startNginx(program ?? '', Number(one.SVC_PORT), Number(other.SVC_PORT));
    const origin = `http://127.0.0.1:${nginx.port}`;
    const pool = new Pool(origin, { connections: callers });

    /** When writes were accepted while something was done. */
    async function acceptedWhile(work: () => Promise<void>): Promise<number[]> {
      const moments: number[] = [];
      const over = new AbortController();
      const calling = Array.from({ length: callers }, async (_, at) => {
        const { groupRef } = stage.installed[at % stage.installed.length] ?? {};
        while (!over.signal.aborted) {
          await timed(pool, {
            origin,
            path: `/write/v1/projects/${stage.projectId}/integrations/crm/objects/contacts`,
            method: 'POST',
            headers: { 'x-api-key': stage.apiKey, 'content-type': 'application/json' },
            body: JSON.stringify({ groupRef, type: 'create', mode: 'asynchronous', record: plainRecord }),
          });
          moments.push(performance.now());
          await sleep(pauseMs);
        }
      });
      const all = Promise.all(calling);
      await Promise.race([work(), all]);
      over.abort();
      await all;
      return moments;
    }

    return {
      run: async () => {
        const since = performance.now();
        const restarted = gapsIn(
          await acceptedWhile(async () => {
            for (const each of nodes) {
              await each.node.stop();
              each.node = await stage.startAnother(each.env);
            }
          }),
        );
        const tookMs = performance.now() - since;
        const quiet = gapsIn(await acceptedWhile(() => sleep(tookMs)));
        const note = `longest gap ${restarted.longestMs} ms, without a restart ${quiet.longestMs}`;
        return { value: restarted.seconds, yardstick: quiet.seconds, note };
      },
      close: async () => {
        await pool.close();
        await nginx.close();
        await stage.close();
        await provider.close();
      },
    };
  },
};
