import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/database.ts';
import { moveBeginnings } from './feeds.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const projectId = '0190a000-0000-7000-8000-00000000000c';
/** When they began, and until when they read, in hours from now. */
const feeds = {
  ahead: ['records', 2, 2],
  lately: ['records', -3, -3],
  'long ago': ['records', -25, -25],
  read: ['records', -3, 1],
  compared: ['associations', 2, 2],
} as const;

describe('actions/read/store/feeds', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
    for (const [object, [kind, began, until]] of Object.entries(feeds))
      await test.database.raw(
        `INSERT INTO read_feed (project_id, installation_id, object, kind, object_name, started_at, watermark)
        SELECT $1, $1, $2, $3, $2, n + $4 * interval '1 hour', n + $5 * interval '1 hour'
        FROM date_trunc('milliseconds', svc_now()) n`,
        [projectId, object, kind, began, until],
      );
  });
  afterAll(() => test?.drop());

  async function stand(): Promise<Record<string, unknown>> {
    const rows = await test.database.raw(
      `SELECT object, ARRAY[round(extract(epoch FROM started_at - svc_now()) / 3600)::int,
        round(extract(epoch FROM watermark - svc_now()) / 3600)::int] AS hours
      FROM read_feed WHERE project_id = $1`,
      [projectId],
    );
    return Object.fromEntries(rows.map(({ object, hours }) => [String(object), hours]));
  }

  it('moves back when feeds began by which nothing was read, once, and leaves all others alone', async () => {
    const before = { read: [-3, 1], compared: [2, 2], 'long ago': [-25, -25] };
    await moveBeginnings(test.database, { laterThanMs: 0, byMs: dayMs });
    const first = { ...before, ahead: [-24, -24], lately: [-3, -3] };
    expect(await stand()).toEqual(first);
    for (let n = 0; n < 2; n += 1) {
      await moveBeginnings(test.database, { laterThanMs: dayMs, byMs: dayMs });
      expect(await stand()).toEqual({ ...first, lately: [-27, -27] });
    }
    const others = await test.database.raw(
      `SELECT FROM read_feed WHERE project_id <> $1 AND watermark < 'infinity'`,
      [projectId],
    );
    expect(others).toEqual([]);
  });
});
