import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { createBudget } from '../connections/budget/index.ts';
import { groundOn } from '../connections/ground.fixture.ts';
import { statement } from '../kit/db/statement.ts';
import { generateMasterKey } from '../kit/vault.ts';
import { fold } from '../lanes/store/lanes.ts';
import { loadCatalog } from '../providers/index.ts';
import { twoProjects } from './harness.fixture.ts';

const leased = {
  refresh_lease: 'gen_random_uuid()',
  refresh_lease_until: `svc_now() + interval '90 s'`,
};

const lockAudit = statement('test_lock_audit', 'LOCK TABLE audit_log IN SHARE MODE');

describe('transfer/renewing', () => {
  let test: TestDatabase;
  let projects: ReturnType<typeof twoProjects>;

  beforeEach(async () => {
    test = await createTestDatabase();
    projects = twoProjects(test.database);
  });
  afterEach(() => test?.drop());

  it('an import waits for a renewal of what it would replace, and leaves the newer token in place', async () => {
    const id = await projects.connect({}, leased);
    const { file } = await projects.moved();
    let isDone = false;
    const importing = projects.imported(file).finally(() => {
      isDone = true;
    });
    await sleep(2_000);
    expect(isDone).toBe(false);
    const renewed = await test.database.raw(
      `UPDATE connection SET credentials = '\\x00', access_issued_at = svc_now(), generation = generation + 1, refresh_lease = NULL, refresh_lease_until = NULL
       WHERE project_id = '${projects.to}' AND id = '${id}' AND generation = 1 AND refresh_lease IS NOT NULL RETURNING id`,
    );
    expect(renewed).toHaveLength(1);
    expect(await importing).toMatchObject({
      replaced: { connections: 0 },
      warnings: [{ message: expect.stringMatching(/^Handed over by the file, and left/) as string }],
    });
  });

  it('an import gives up after 30 s of a renewal, and nothing of it came in', async () => {
    const id = await projects.connect({}, leased);
    const { file } = await projects.moved();
    const [now, begunAt] = [performance.now.bind(performance), performance.now()];
    // Half a second counts as half a minute and more.
    vi.spyOn(performance, 'now').mockImplementation(() => begunAt + 70 * (now() - begunAt));
    try {
      await expect(projects.imported(file)).rejects.toMatchObject({ code: 'export-busy' });
    } finally {
      vi.restoreAllMocks();
    }
    const found = await test.database.raw(
      `SELECT id FROM connection WHERE project_id = '${projects.to}' AND generation = 1 AND refresh_lease IS NOT NULL`,
    );
    expect(found).toEqual([{ id }]);
  });

  it('an import waits for no renewal of what it leaves alone', async () => {
    await projects.connect({}, { ...leased, as_of: `svc_now() + interval '1 hour'` });
    const { file } = await projects.moved();
    const importing = projects.imported(file);
    expect(await importing).toMatchObject({ replaced: { connections: 0 } });
  });

  it('an export names connections whose renewal ended without a word, also when it is repeated', async () => {
    const ended = { ...leased, refresh_lease_until: `svc_now() - interval '1 s'` };
    await projects.connect(ended);
    await projects.connect({});
    const named = expect.stringMatching(
      /^Moved while a renewal was begun.*: connections 1 \(acme\)\. /,
    ) as string;
    for (let made = 1; made <= 2; made += 1) expect((await projects.moved()).warnings).toContainEqual(named);
  });

  it('what waits for the limit of credentials before goes on where a file brings those of a later sign-in, and only there', async () => {
    const signed = await projects.connect({ signed_in_at: 'svc_now()' });
    const other = await projects.connect({});
    for (const id of [signed, other])
      await test.database.raw(
        `WITH b AS (INSERT INTO budget (project_id, connection_id, closed_until, locked_out)
           VALUES ('${projects.to}', '${id}', svc_now() + interval '1 day', true))
         INSERT INTO lane (project_id, id, due_at, not_before)
         VALUES ('${projects.to}', '${id}', svc_now() + interval '1 day', svc_now() + interval '1 day')`,
      );
    const came = await projects.imported((await projects.moved()).file);
    expect(came.replaced).toMatchObject({ connections: 2 });
    const found = await test.database.raw(
      `SELECT l.id, b.closed_until <= svc_now() AND NOT b.locked_out AND l.due_at <= svc_now() AS goes_on
       FROM lane l JOIN budget b ON b.connection_id = l.id WHERE l.project_id = '${projects.to}' ORDER BY l.id`,
    );
    expect(found).toEqual([
      { id: signed, goes_on: true },
      { id: other, goes_on: false },
    ]);
  });

  it('what waits for connections that were moved away goes on where they come back, by a file or by an undo', async () => {
    const [back, left] = [await projects.connect({}), await projects.connect({}, { as_of: 'svc_now()' })];
    const dueAmong = async (projectId: string): Promise<string[]> =>
      (
        await test.database.raw(
          `SELECT id FROM lane WHERE project_id = '${projectId}' AND due_at <= svc_now() ORDER BY id`,
        )
      ).map(({ id }) => String(id));
    for (const projectId of [projects.from, projects.to])
      await test.database.raw(
        `INSERT INTO lane (project_id, id, due_at)
         SELECT '${projectId}', id::uuid, svc_now() + interval '5 minutes' FROM unnest('{${back},${left}}'::text[]) id`,
      );
    const { file } = await projects.moved();
    await test.database.raw(`UPDATE connection SET as_of = svc_now() WHERE id = '${left}'`);
    expect((await projects.imported(file)).replaced).toMatchObject({ connections: 1 });
    expect([await dueAmong(projects.to), await dueAmong(projects.from)]).toEqual([[back], []]);
    expect(await projects.transfer.undo(projects.from)).toBe(2);
    expect(await dueAmong(projects.from)).toEqual([back, left].toSorted());
  });

  it('no lane is held until the commit of an import or an undo, and its dry run touches none', async () => {
    const id = await projects.connect({});
    for (const projectId of [projects.from, projects.to])
      await test.database.raw(
        `INSERT INTO lane (project_id, id, due_at) VALUES ('${projectId}', '${id}', svc_now() + interval '5 minutes')`,
      );
    const { file } = await projects.moved();
    const lanes = `SELECT wakes::int AS wakes FROM lane WHERE id = '${id}' ORDER BY wakes`;
    expect(await projects.imported(file, true)).toMatchObject({ replaced: { connections: 1 } });
    expect(await test.database.raw(lanes)).toEqual([{ wakes: 0 }, { wakes: 0 }]);
    const blocked = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    for (const act of [() => projects.imported(file), () => projects.transfer.undo(projects.from)]) {
      let acting: Promise<unknown> | undefined;
      await test.database.transaction(async (tx) => {
        // The last that either writes.
        await tx.rows(lockAudit);
        acting = act();
        await expect.poll(() => test.database.raw(blocked)).toHaveLength(1);
        await test.database.raw(
          `INSERT INTO wake (project_id, lane_id, due_at) VALUES ('${projects.from}', '${id}', svc_now()), ('${projects.to}', '${id}', svc_now())`,
        );
        const folded = fold(test.database).then((those) => those.length);
        expect(await Promise.race([folded, sleep(2_000)])).toBe(2);
      });
      await acting;
    }
    expect(await test.database.raw(lanes)).toEqual([{ wakes: 3 }, { wakes: 3 }]);
  });

  it('what was deleted here after new sign-ins and comes in again keeps to the limits that calls tell of', async () => {
    const id = await projects.connect({});
    const { to } = projects;
    await test.database.raw(
      `WITH gone AS (DELETE FROM connection WHERE project_id = '${to}' AND id = '${id}')
       INSERT INTO budget (project_id, connection_id, closed_until, locked_out, opened_at, opened_generation)
       VALUES ('${to}', '${id}', svc_now(), false, svc_now(), 40)`,
    );
    const budget = createBudget(groundOn(test.database, generateMasterKey('k1')), loadCatalog());
    await budget.ready();
    expect((await projects.imported((await projects.moved()).file)).created).toMatchObject({
      connections: 1,
    });
    const [row] = await test.database.raw(
      `SELECT generation::float8 AS generation FROM connection WHERE project_id = '${to}'`,
    );
    const generation = Number(row?.['generation']);
    budget.close(to, id, { forMs: 60_000, lockedOut: false }, { generation });
    expect(budget.closed(to, id)).toBeDefined();
    const stored = `SELECT FROM budget WHERE connection_id = '${id}' AND closed_until > svc_now()`;
    await expect.poll(() => test.database.raw(stored)).toHaveLength(1);
    await budget.end();
  });
});
