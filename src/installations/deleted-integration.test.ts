import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHubspot } from '../../simulator/hubspot/index.ts';
import { statement } from '../kit/db/statement.ts';
import { createHarness, type Harness } from './harness.fixture.ts';

let on: Harness;
let connectionId: string;
beforeAll(async () => {
  on = await createHarness(await startHubspot({ records: 5 }));
  connectionId = await on.connect('acme');
});
afterAll(() => on?.close());

const content = {
  provider: 'hubspot',
  read: { objects: { contacts: { objectName: 'contacts', selectedFieldMappings: { nick: 'firstname' } } } },
};
const install = (integration: string, query = '') =>
  on.call('POST', `/integrations/${integration}/installations${query}`, {
    groupRef: 'acme',
    config: { content: integration === 'crm' ? content : { provider: 'hubspot' } },
  });
const left = () => on.ground.database.raw('SELECT id FROM installation');

describe('installations/deleted-integration', () => {
  it('installs no integration that was deleted while the provider was asked', async () => {
    await on.simulator('DELETE', 'requests');
    await on.simulator('POST', 'faults', { path: '/crm/', times: 1, fault: { kind: 'delay', ms: 1_500 } });
    const installing = install('crm');
    const asked = async () =>
      (await on.simulator<{ requests: unknown[] }>('GET', 'requests?path=/crm/')).requests;
    await expect.poll(asked).not.toEqual([]);
    expect((await on.call('DELETE', '/integrations/crm')).status).toBe(204);
    expect(await installing).toMatchObject({ status: 404, json: { code: 'not-found' } });
    expect(await left()).toEqual([]);
  });

  it('deletes with an integration what is being installed of it', async () => {
    const waiting = async (): Promise<unknown> => {
      const [row] = await on.ground.database.raw(
        "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      return row?.['n'];
    };
    const answers: ReturnType<Harness['call']>[] = [];
    await on.ground.database.transaction(async (tx) => {
      await tx.rows(statement('test_hold', 'SELECT FROM connection WHERE id = $1 FOR UPDATE'), [
        connectionId,
      ]);
      answers.push(install('other', '?skipSampling=true'));
      await expect.poll(waiting).toBe(1);
      answers.push(on.call('DELETE', '/integrations/other'));
      await expect.poll(waiting).toBe(2);
    });
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([201, 204]);
    expect(await left()).toEqual([]);
  });

  it('deletes an integration once', async () => {
    const deletions = ['broken', 'broken'].map((name) => on.call('DELETE', `/integrations/${name}`));
    const statuses = (await Promise.all(deletions)).map(({ status }) => status);
    expect(statuses.toSorted((a, b) => a - b)).toEqual([204, 404]);
  });
});
