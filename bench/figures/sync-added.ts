import { Client } from 'pg';
import { Pool } from 'undici';
import { newId } from '../../src/kit/ids.ts';
import { scaled, type Figure } from '../figure.ts';
import { percentiles, timed, type LoadTarget } from '../load.ts';
import { plainRecord, startProvider } from '../provider.ts';
import { startStage } from '../stage.ts';

const rounds = scaled(1_000);

const makeTable = 'CREATE TABLE bench_commit (id uuid PRIMARY KEY, note text NOT NULL)';
const insert = { name: 'bench-commit', text: 'INSERT INTO bench_commit (id, note) VALUES ($1, $2)' };

/** One caller; a write through us, the same at the simulator and the two commits take turns, so that a noise hits all. */
function added(share: 'p50' | 'p99', atMost: number): Figure {
  return {
    id: `sync-added-${share}`,
    about: `${share} of a synchronous write less that of the same call at the simulator`,
    unit: 'ms',
    yardstick: 'two bare commits of one small row, p50',
    goal: { of: 'ratio', atMost },
    prepare: async () => {
      const provider = await startProvider(1);
      const stage = await startStage(provider.origin, { groups: provider.groups });
      const client = new Client({ connectionString: stage.databaseUrl });
      await client.connect();
      await client.query(makeTable);
      const viaUs: LoadTarget = {
        origin: stage.base,
        path: `/write/v1/projects/${stage.projectId}/integrations/crm/objects/contacts`,
        method: 'POST',
        headers: { 'x-api-key': stage.apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ groupRef: 'g0', type: 'create', record: plainRecord }),
      };
      const [us, direct] = [new Pool(stage.base), new Pool(provider.origin)];
      return {
        run: async () => {
          const written: number[] = [];
          const called: number[] = [];
          const committed: number[] = [];
          for (let n = 0; n < rounds; n += 1) {
            written.push(await timed(us, viaUs));
            called.push(await timed(direct, provider.create));
            const since = performance.now();
            for (const note of ['one', 'two']) await client.query({ ...insert, values: [newId(), note] });
            committed.push(performance.now() - since);
          }
          return {
            value: percentiles(written)[share] - percentiles(called)[share],
            yardstick: percentiles(committed).p50,
          };
        },
        close: async () => {
          await Promise.all([us.close(), direct.close(), client.end()]);
          await stage.close();
          await provider.close();
        },
      };
    },
  };
}

export const syncAddedP50 = added('p50', 2);
export const syncAddedP99 = added('p99', 6);
