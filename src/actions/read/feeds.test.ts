import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startHubspot } from '../../../simulator/hubspot/index.ts';
import { createHarness, type Harness } from '../../installations/harness.fixture.ts';
import type { Database } from '../../kit/db/database.ts';
import type { Statement } from '../../kit/db/statement.ts';
import type { Ground } from '../../kit/ground.ts';
import { createOperations, type Operations } from '../../operations/index.ts';
import { followChanges, followOne } from './feeds.ts';
import { list, type FeedPlace } from './store/feeds.ts';

const contacts = { objectName: 'contacts', selectedFieldMappings: { nick: 'firstname' } };
const companies = { objectName: 'companies', selectedFieldsAuto: 'all' };

describe('actions/read/feeds', () => {
  let on: Harness;
  let operations: Operations;
  let groups = 0;
  let place: string;
  let at: FeedPlace;
  beforeAll(async () => {
    on = await createHarness(await startHubspot({ records: 5 }));
    operations = createOperations(on.ground);
  });
  async function install(): Promise<void> {
    const groupRef = `group-${(groups += 1)}`;
    await on.connect(groupRef);
    const config = { content: { provider: 'hubspot', read: { objects: { contacts } } } };
    const made = await on.call('POST', '/integrations/crm/installations', { groupRef, config });
    expect([made.status, made.json.code]).toEqual([201, undefined]);
    at = { projectId: on.projectId, installationId: made.json.id };
    place = `/integrations/crm/installations/${at.installationId}`;
  }
  beforeEach(install);
  afterAll(async () => {
    await operations.close(1_000);
    await on?.close();
  });

  const follow = (ground = on.ground): Promise<boolean> => followChanges({ ground, operations });
  const followAll = async (): Promise<void> => {
    while (await follow());
  };
  const feeds = async (): Promise<string[]> =>
    (await list(on.ground.database, at.projectId, at.installationId)).map(({ object }) => object);
  const addCompanies = async (): Promise<void> => {
    const installation = { config: { content: { read: { objects: { companies } } } } };
    const updateMask = ['config.content.read.objects.companies'];
    const saved = await on.call('PATCH', `${place}?skipSampling=true`, { updateMask, installation });
    expect([saved.status, saved.json.code]).toEqual([200, undefined]);
  };

  /** A node that waits once it has read what the config says, until it is told to go on. */
  function slowNode(): { ground: Ground; read: Promise<void>; goOn: () => void } {
    const { database } = on.ground;
    const read = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const transaction: Database['transaction'] = (work) =>
      database.transaction((tx) =>
        work({
          ...tx,
          rows: async <Row>(statement: Statement, values?: readonly unknown[]) => {
            const rows = await tx.rows<Row>(statement, values);
            if (statement.name !== 'installations_load_targets') return rows;
            read.resolve();
            await gate.promise;
            return rows;
          },
        }),
      );
    const ground = { ...on.ground, database: { ...database, transaction } };
    return { ground, read: read.promise, goOn: gate.resolve };
  }

  it.each([
    ['the scheduler of another node', () => follow()],
    ['a request', () => on.ground.database.transaction((tx) => followOne(tx, at))],
  ])('follows a change that comes while a node is at the one before, by %s', async (_by, other) => {
    const { ground, read, goOn } = slowNode();
    const first = follow(ground);
    await read;
    await addCompanies();
    const second = other();
    await sleep(300);
    goOn();
    await Promise.all([first, second]);
    await followAll();
    expect(await feeds()).toEqual(['companies', 'contacts']);
  });

  it('leaves to another node what that is at, and takes what is behind it', async () => {
    const { ground, read, goOn } = slowNode();
    const first = follow(ground);
    await read;
    await addCompanies();
    expect(await follow()).toBe(false);
    await install();
    expect(await follow()).toBe(true);
    expect(await feeds()).toEqual(['contacts']);
    goOn();
    await first;
  });
});
