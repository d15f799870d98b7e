import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wholeProject } from '../../../events/index.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/database.ts';
import { startForwarder, type Forwarder } from '../../../../test/forwarder.ts';
import { openDatabase, type Database } from '../../../kit/db/database.ts';
import { sleep } from '../../../kit/retry.ts';
import { count, groundOf, intake, projectId, until } from '../../../operations/harness.fixture.ts';
import { type Node, createNode } from '../harness.fixture.ts';
import { planRetry } from '../retry.ts';

describe('write/stray', () => {
  let test: TestDatabase;
  let wire: Forwarder;
  let database: Database;
  let operations: Node;

  beforeAll(async () => {
    test = await createTestDatabase();
    wire = await startForwarder(test.url);
    database = openDatabase({ url: wire.url, poolSize: 5, applicationName: 'svc test' });
    operations = createNode(groundOf(database), { leaseMs: 2_000 });
    await test.database.raw(`CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF NEW.attempt = 1 THEN PERFORM pg_sleep(1); END IF; RETURN NEW; END $$`);
  });
  afterAll(async () => {
    wire?.heal();
    await operations?.close();
    await database?.close();
    await wire?.close();
    await test?.drop();
  });

  const key = { principal: 'key:1', key: 'once', hash: Buffer.from('01', 'hex') };

  it('ends a synchronous write whose acceptance nobody learned of, while its node lives, and frees its key', async () => {
    // The node's lane exists already.
    await operations.perform(intake(), () => Promise.resolve([{ kind: 'applied' }]));
    await test.database.raw(
      'CREATE TRIGGER slowly BEFORE INSERT ON work FOR EACH ROW EXECUTE FUNCTION slowly()',
    );
    let sent = 0;
    const send = () => {
      sent += 1;
      return Promise.resolve([{ kind: 'applied' as const, recordId: 'r' }]);
    };
    const lose = (given: Parameters<typeof intake>[0]) =>
      operations.perform(intake(given), send).catch((error: unknown) => error);
    const lost = [lose({ key, resource: 'lost' }), lose({ resource: 'keyless' })];
    await sleep(500);
    wire.cut('refuse');
    for (const fate of await Promise.all(lost))
      expect(fate).toMatchObject({ code: 'database-unavailable', retryable: true });
    expect(sent).toBe(0);
    expect(await count(test.database, 'work WHERE state = 1')).toBe(2);
    await test.database.raw('DROP TRIGGER slowly ON work');
    wire.heal();
    await until('nothing is left', async () => (await count(test.database, 'work')) === 0);
    const [row] = await test.database.raw("SELECT id FROM operation WHERE resource = 'lost'");
    expect(await operations.get(wholeProject(projectId), String(row?.['id']))).toMatchObject({
      status: 'failure',
      result: expect.stringContaining('nothing was sent') as string,
      counts: { failed: 1, unknown: 0 },
      errors: [{ retryable: false }],
    });
    // Their callers come again: a repetition by somebody else would write them twice.
    const left = await test.database.raw("SELECT id FROM operation WHERE resource IN ('lost', 'keyless')");
    expect(left).toHaveLength(2);
    for (const { id } of left)
      expect(planRetry(await operations.written(wholeProject(projectId), String(id)))).toEqual({
        refusal: expect.objectContaining({ code: 'nothing-to-retry' }) as object,
      });
    const again = await operations.perform(intake({ key }), send);
    expect(again).toMatchObject({ recorded: true, outcomes: [{ kind: 'applied' }] });
    expect(sent).toBe(1);
  }, 60_000);

  it('leaves alone what is being sent', async () => {
    const slow = await operations.perform(intake({ resource: 'slow' }), async () => {
      await sleep(3_000);
      return [{ kind: 'applied', recordId: 'r' }];
    });
    expect(slow).toMatchObject({ recorded: true });
    expect(await operations.get(wholeProject(projectId), slow.operationId)).toMatchObject({
      status: 'success',
    });
  });
});
