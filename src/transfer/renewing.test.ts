import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { twoProjects } from './harness.fixture.ts';

const leased = {
  refresh_lease: 'gen_random_uuid()',
  refresh_lease_until: `svc_now() + interval '90 s'`,
};

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
});
