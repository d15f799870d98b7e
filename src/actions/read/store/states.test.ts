import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/database.ts';
import { beginning, listReads, readsOf, type ReadFilter } from './states.ts';

const projectId = '0190a000-0000-7000-8000-00000000000c';
const idOf = (n: number): string => `0190a000-0000-7000-8000-${String(n).padStart(12, '0')}`;

describe('actions/read/store/states', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
    await test.database.raw(
      `INSERT INTO read_feed (project_id, installation_id, object, kind, object_name, started_at, watermark)
      SELECT $1, ('0190a000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, o, k, o, now(), now()
      FROM generate_series(1, 10) n, unnest(ARRAY['contacts', 'deals']) o, unnest(ARRAY['records', 'associations']) k`,
      [projectId],
    );
  });
  afterAll(() => test?.drop());

  const set = (n: number, object: string, kind: string, what: string): Promise<unknown> =>
    test.database.raw(
      `UPDATE read_feed SET ${what} WHERE installation_id = $1 AND object = $2 AND kind = $3`,
      [idOf(n), object, kind],
    );

  /** All that a filter finds, and in how many looks at so many reads. */
  async function walk(filter: ReadFilter, looks: number): Promise<{ found: string[]; times: number }> {
    const found: string[] = [];
    for (let [after, times] = [beginning, 1]; ; times += 1) {
      const { rows, lookedTo } = await listReads(test.database, projectId, {
        filter,
        after,
        looks,
        limit: looks,
      });
      found.push(
        ...rows.map(({ installationId, object }) => `${Number(installationId.slice(-4))} ${object}`),
      );
      if (!lookedTo) return { found, times };
      after = lookedTo;
    }
  }

  it('looks at so many and says where it goes on, also where nothing was found', async () => {
    await set(7, 'deals', 'records', 'failures = 1');
    expect(await walk({ standings: ['failing'] }, 5)).toEqual({ found: ['7 deals'], times: 5 });
    expect(await walk({ standings: ['failing'] }, 21)).toEqual({ found: ['7 deals'], times: 1 });
    expect(await walk({ object: 'DEALS', installationId: idOf(7) }, 5)).toEqual({
      found: ['7 deals'],
      times: 1,
    });
    expect((await walk({}, 7)).found).toHaveLength(20);
  });

  it('is as bad as the worse of its feeds, and what somebody did to it comes first', async () => {
    const standing = async (n: number): Promise<string[]> =>
      (await readsOf(test.database, projectId, idOf(n))).map((row) => `${row.object} ${row.standing}`);
    expect(await standing(1)).toEqual(['contacts idle', 'deals idle']);
    await set(1, 'contacts', 'associations', 'failures = 2');
    await set(1, 'deals', 'records', 'run_id = project_id');
    expect(await standing(1)).toEqual(['contacts failing', 'deals running']);
    await set(1, 'contacts', 'associations', `paused = 'failures'`);
    await set(1, 'deals', 'records', 'failures = 1');
    expect(await standing(1)).toEqual(['contacts paused', 'deals failing']);
    await set(1, 'contacts', 'records', `paused = 'removed'`);
    expect(await standing(1)).toEqual(['contacts removed', 'deals failing']);
    const [contacts] = await readsOf(test.database, projectId, idOf(1));
    expect([contacts?.records.kind, contacts?.associations?.kind]).toEqual(['records', 'associations']);
  });

  it('runs while its history is read', async () => {
    await test.database.raw(
      `INSERT INTO read_run (project_id, id, installation_id, object, object_name, type, until)
      VALUES ($1, $2, $2, 'deals', 'deals', 'backfill', now())`,
      [projectId, idOf(3)],
    );
    await set(3, 'deals', 'records', 'backfill_id = installation_id');
    expect((await walk({ standings: ['running'], installationId: idOf(3) }, 5)).found).toEqual(['3 deals']);
  });
});
