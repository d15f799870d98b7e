import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { newId } from '../kit/ids.ts';
import { openNode } from '../lanes/store/lanes.ts';
import { groundOf, intake } from './harness.fixture.ts';
import { createOperations, type Operations, type Settlement } from './index.ts';
import { record } from './store/record.ts';

describe('src/operations/store/record', () => {
  let test: TestDatabase;
  let operations: Operations;
  const [routed, other] = [newId(), newId()];
  beforeAll(async () => {
    test = await createTestDatabase();
    operations = createOperations(groundOf(test.database));
  });
  afterAll(async () => {
    await operations?.close();
    await test?.drop();
  });

  /** The end of a write that was accepted as started. */
  async function ended(projectId: string): Promise<Settlement> {
    const given = intake({ projectId, laneId: newId() });
    const lane = { projectId, id: given.laneId, lease: randomUUID() };
    await openNode(test.database, lane, 60_000);
    const operationId = newId();
    const accepted = await operations.acceptMarked(given, lane.lease, operationId);
    const { installationId, actionType, resource } = given;
    return {
      projectId,
      operationId,
      installationId,
      actionType,
      resource,
      place: {},
      attempt: 1,
      seq: accepted?.seq ?? '',
      lease: lane.lease,
      mark: null,
      done: true,
      waitMs: 0,
      spent: true,
      status: 'success',
      result: 'done',
      errors: [],
      succeeded: 1,
      failed: 0,
      unknown: 0,
      eventId: newId(),
      outcomes: [{ index: 0, outcome: { kind: 'applied', recordId: '7' } }],
    };
  }

  it('remembers the projects of whose ends somebody is told, and no other that came with them', async () => {
    const telling = new Set<string>();
    const both = async (): Promise<Settlement[]> => [await ended(other), await ended(routed)];
    expect(await record(test.database, await both(), { projects: telling })).toEqual([true, true]);
    expect([...telling]).toEqual([]);
    await test.database.raw(`INSERT INTO notification_route VALUES ($1, 'write.async.done', $2)`, [
      routed,
      newId(),
    ]);
    expect(await record(test.database, await both(), { projects: telling })).toEqual([true, true]);
    expect([...telling]).toEqual([routed]);
    expect(await record(test.database, await both(), { projects: telling })).toEqual([true, true]);
    expect([...telling]).toEqual([routed]);
    await test.database.raw('DELETE FROM notification_route');
    expect(await record(test.database, await both(), { projects: telling })).toEqual([true, true]);
    expect([...telling]).toEqual([]);
  });
});
