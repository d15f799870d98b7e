import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { wholeProject } from '../events/index.ts';
import { declaredStatements } from '../kit/db/statement.ts';
import type { FailureCategory } from '../providers/index.ts';
import { groundOf, intake, projectId, writeOne } from './harness.fixture.ts';
import { createOperations, type Operations, type Settlement } from './index.ts';
import { listOperations } from './list.ts';
import { listOldestOperations } from './list-oldest.ts';
import type { OperationQuery } from './schema.ts';

type Question = Omit<OperationQuery, 'pageSize' | 'pageToken'>;

function failed(...categories: FailureCategory[]): Partial<Settlement> {
  const errors = categories.map((category, index) => ({ index, category, retryable: false, message: 'no' }));
  return { status: 'failure', result: '[contacts] no', errors, succeeded: 0, failed: categories.length };
}

describe('operations/list', () => {
  let test: TestDatabase;
  let operations: Operations;
  const ours = intake({ installationId: randomUUID() });
  const other = intake({ installationId: randomUUID(), resource: 'Companies' });
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    test = await createTestDatabase();
    operations = createOperations(groundOf(test.database));
    for (const [at, group] of [
      [ours, 'acme'],
      [other, 'globex'],
    ] as const)
      await test.database.raw(
        `INSERT INTO installation (project_id, id, integration_id, group_ref, connection_id, config_id, created_by)
        VALUES ($1, $2, $3, $4, $2, $2, 'api:test')`,
        [projectId, at.installationId, at.integrationId, group],
      );
    const make = (name: string, given: typeof ours, end?: Partial<Settlement>): Promise<unknown> =>
      writeOne(operations, test.database, given, end).then((id) => (ids[name] = id));
    await make('done', ours);
    await make('invalid', ours, failed('validation', 'validation', 'conflict'));
    await make('partly', other, { ...failed('conflict'), status: 'success', succeeded: 1 });
    await make('lost', ours, { ...failed('unknownOutcome'), status: 'success', failed: 0, unknown: 1 });
    await make('down', other, failed('providerDown'));
    ids['waits'] = (await operations.acceptQueued(ours)).operationId;
    ids['waitsToo'] = (await operations.acceptQueued({ ...other, actionType: 'read' })).operationId;
  });
  afterAll(async () => {
    await operations?.close();
    await test?.drop();
  });

  async function names(question: Question, groupRef?: string): Promise<string[]> {
    const reach = { ...wholeProject(projectId), ...(groupRef === undefined ? {} : { groupRef }) };
    const { found, nextPageToken } = await listOperations(test.database, reach, question, 50);
    expect(nextPageToken).toBeUndefined();
    return found.map(({ row: { id } }) => Object.keys(ids).find((name) => ids[name] === id) ?? id);
  }

  it.each<[Question, string[]]>([
    [{}, ['waitsToo', 'waits', 'down', 'lost', 'partly', 'invalid', 'done']],
    [{ status: 'success' }, ['lost', 'partly', 'done']],
    [{ status: 'failure' }, ['down', 'invalid']],
    [{ status: 'in_progress' }, ['waitsToo', 'waits']],
    [{ status: 'in_progress', actionType: 'write' }, ['waits']],
    [{ errorCategory: 'conflict' }, ['partly', 'invalid']],
    [{ errorCategory: 'conflict', status: 'failure' }, ['invalid']],
    [{ errorCategory: 'auth' }, []],
    [{ partlyDone: true }, ['lost', 'partly']],
    [{ partlyDone: true, errorCategory: 'conflict' }, ['partly']],
    [{ partlyDone: true, status: 'failure' }, []],
    [{ object: 'companies' }, ['waitsToo', 'down', 'partly']],
    [{ object: 'companies', status: 'failure' }, ['down']],
    [{ groupRef: 'acme' }, ['waits', 'lost', 'invalid', 'done']],
    [{ groupRef: 'acme', status: 'in_progress' }, ['waits']],
    [{ groupRef: 'nobody' }, []],
    [{ installationId: other.installationId, status: 'success' }, ['partly']],
    [{ installationId: 'none' }, []],
    [{ to: '2020-01-01T00:00:00Z' }, []],
    [{ from: '2100-01-01T00:00:00Z', status: 'failure' }, []],
  ])('finds by %j', async (question, expected) => {
    expect(await names(question)).toEqual(expected);
  });

  it('shows a group its own only', async () => {
    expect(await names({}, 'globex')).toEqual(['waitsToo', 'down', 'partly']);
    expect(await names({ status: 'failure' }, 'globex')).toEqual(['down']);
    expect(await names({ partlyDone: true }, 'globex')).toEqual(['partly']);
    expect(await names({ groupRef: 'acme' }, 'globex')).toEqual([]);
  });

  it.each<Question>([{}, { status: 'in_progress' }, { status: 'failure' }, { object: 'contacts' }])(
    'pages %j without a gap, a repetition or an empty last page',
    async (question) => {
      const whole = await listOperations(test.database, wholeProject(projectId), question, 50);
      const paged: string[] = [];
      let token: string | undefined;
      do {
        const page = await listOperations(test.database, wholeProject(projectId), question, 1, token);
        expect(page.found).toHaveLength(1);
        paged.push(...page.found.map(({ row }) => row.id));
        token = page.nextPageToken;
      } while (token !== undefined);
      expect(paged).toEqual(whole.found.map(({ row }) => row.id));
    },
  );

  it.each<Question>([
    {},
    { status: 'failure' },
    { errorCategory: 'conflict' },
    { groupRef: 'acme' },
    { installationId: ours.installationId },
  ])('finds %j from the oldest on as from the newest on, in pages, too', async (question) => {
    const reach = wholeProject(projectId);
    const { found } = await listOperations(test.database, reach, question, 50);
    const whole = await listOldestOperations(test.database, reach, question, 50);
    expect(whole).toEqual({ found: found.map(({ row }) => ({ row })).toReversed() });
    const paged: string[] = [];
    let token: string | undefined;
    do {
      const page = await listOldestOperations(test.database, reach, question, 1, token);
      paged.push(...page.found.map(({ row }) => row.id));
      token = page.nextPageToken;
    } while (token !== undefined);
    expect(paged).toEqual(whole.found.map(({ row }) => row.id));
  });

  it('finds from the oldest on what was there when it began, in the order of acceptance, whatever the ids say, page after page', async () => {
    const reach = wholeProject(projectId);
    const installationId = randomUUID();
    const given = { ...ours, installationId };
    const made: string[] = [];
    for (let n = 0; n < 4; n += 1)
      made.push(await writeOne(operations, test.database, given, failed('conflict')));
    const question = { installationId } as const;
    const found = async (size: number, token?: string) => {
      const slice = await listOldestOperations(test.database, reach, question, size, token);
      return { ids: slice.found.map(({ row }) => row.id), token: slice.nextPageToken };
    };
    await test.database.raw(
      "UPDATE operation SET created_at = created_at - interval '1 hour' WHERE id = $1",
      [made[3]],
    );
    const [first, second] = [await found(1), await found(2)];
    expect([first.ids, second.ids]).toEqual([[made[3]], [made[3], made[0]]]);
    await writeOne(operations, test.database, given, failed('conflict'));
    const rest = await found(50, second.token);
    expect(rest).toEqual({ ids: [made[1], made[2]], token: undefined });
    expect((await found(50, first.token)).ids).toEqual([made[0], made[1], made[2]]);
    expect((await found(50)).ids).toHaveLength(5);
  });

  it('refuses a token that is none', async () => {
    for (const place of ['project x', 'none 1', 'queued 1;', ''])
      await expect(
        listOperations(
          test.database,
          wholeProject(projectId),
          {},
          1,
          Buffer.from(place).toString('base64url'),
        ),
      ).rejects.toThrow(/pageToken/);
    const { id } = (await operations.listAll(wholeProject(projectId), { pageSize: 1 })).results[0]!;
    for (const place of [
      `project ${id}`,
      `oldest project ${id}`,
      `oldest gathering ${id} ${id} 1 ${id} 1`,
      `oldest group x ${id} 1 ${id} 1`,
      `oldest group ${id} ${id} 1 x 1`,
    ])
      await expect(
        listOldestOperations(
          test.database,
          wholeProject(projectId),
          {},
          1,
          Buffer.from(place).toString('base64url'),
        ),
      ).rejects.toThrow(/pageToken/);
  });
});

describe('operations/list of many', () => {
  const many = 30_000;
  let test: TestDatabase;
  let client: Client;
  const project = randomUUID();
  const reach = wholeProject(project);

  beforeAll(async () => {
    test = await createTestDatabase();
    client = new Client({ connectionString: test.url });
    await client.connect();
    // One in a thousand failed; of another project there are as many.
    await client.query(
      `INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource, status, total)
      SELECT CASE WHEN n % 2 = 0 THEN $1::uuid ELSE gen_random_uuid() END,
        (left(svc_uuid_floor(now())::text, 14) || '7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, $1, $1, $1, 'write', '{}', 'contacts',
        CASE WHEN n % 1000 = 0 THEN 'failure' ELSE 'success' END, 1
      FROM generate_series(1, ${many}) n`,
      [project],
    );
    await client.query(
      `INSERT INTO operation_mark SELECT project_id, 'failure', id FROM operation WHERE project_id = $1 AND status = 'failure'`,
      [project],
    );
    await client.query(
      `INSERT INTO installation (project_id, id, integration_id, group_ref, connection_id, config_id, created_by)
      VALUES ($1, $1, $1, 'acme', $1, $1, 'api:test')`,
      [project],
    );
    await client.query(
      `INSERT INTO ab_batch (project_id, id, key, lane_id, prio, close_at, latest_at, deadline_s)
      SELECT project_id, id, $1, $1, 1, now(), now(), 60 FROM operation WHERE project_id = $1 LIMIT 3000`,
      [project],
    );
    await client.query('SET plan_cache_mode = force_generic_plan');
  });
  afterAll(async () => {
    await client?.end();
    await test?.drop();
  });

  const ends = ["'ffffffff-ffff-ffff-ffff-ffffffffffff'", "'00000000-0000-0000-0000-000000000000'"];
  it.each([
    ['operations_of_project', ends],
    ['operations_of_installation', ends],
    ['operations_marked', ends],
    ['operations_of_project_oldest', ends.toReversed()],
    ['operations_of_installation_oldest', ends.toReversed()],
    ['operations_marked_oldest', ends.toReversed()],
  ])('%s reads an index, and no more of it than the page', async (name, bounds) => {
    const text = declaredStatements().find((one) => one.name === name)?.text ?? '';
    const fifth = text.includes('$5') ? ['NULL'] : [];
    await client.query(`PREPARE ${name} AS ${text}`);
    const values = [`'${project}'`, ...bounds, '20'];
    const last = name.startsWith('operations_marked') ? "'failure'" : `'${project}'`;
    const explained = await client.query<{ 'QUERY PLAN': string }>(
      `EXPLAIN (ANALYZE, BUFFERS, COSTS off, TIMING off) EXECUTE ${name}(${[...values, ...fifth.map(() => last)].join(', ')})`,
    );
    const plan = explained.rows.map((row) => row['QUERY PLAN']).join('\n');
    if (process.env['SHOW_PLANS']) process.stdout.write(`${plan}\n\n`);
    expect(plan).not.toMatch(/Seq Scan|Sort Method/);
    const [, pages = '0'] = /Buffers: shared hit=(\d+)/.exec(plan) ?? [];
    expect(Number(pages)).toBeGreaterThan(0);
    expect(Number(pages)).toBeLessThan(60);
  });

  it('looks at 2,000 for a page at most, and goes on where it stopped', async () => {
    let token: string | undefined;
    let pages = 0;
    do {
      const page = await listOperations(test.database, reach, { object: 'none' }, 10, token);
      expect(page.found).toEqual([]);
      pages += 1;
      token = page.nextPageToken;
    } while (token !== undefined);
    expect(pages).toBe(Math.ceil(many / 2 / 2_000));
    const failures = await listOperations(test.database, reach, { status: 'failure' }, 50);
    expect(failures.found).toHaveLength(many / 1_000);
  });

  it.each<Question>([
    {},
    { groupRef: 'acme' },
    { installationId: project },
    { status: 'failure' },
    { status: 'in_progress' },
    { object: 'contacts' },
  ])('tells another group nothing of them, by %j, and no place among them', async (question) => {
    const beta = { ...reach, groupRef: 'beta' };
    expect(await listOperations(test.database, beta, question, 10)).toEqual({ found: [] });
    for (const walk of ['project', 'installation', 'marked']) {
      const token = Buffer.from(`${walk} ${project}`).toString('base64url');
      await expect(listOperations(test.database, beta, question, 10, token)).rejects.toThrow(/pageToken/);
    }
  });
});
