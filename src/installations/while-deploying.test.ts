import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHubspot } from '../../simulator/hubspot/index.ts';
import { statement } from '../kit/db/statement.ts';
import { createHarness, manifest, type Harness } from './harness.fixture.ts';
import { targetIn } from './targets.ts';

const lockDeploys = statement(
  'test_lock_deploys',
  `SELECT pg_advisory_xact_lock(hashtextextended('svc:deploy:' || $1, 0))`,
);
const lockRevisions = statement('test_lock_revisions', 'LOCK TABLE revision IN SHARE MODE');

describe('installations/while-deploying', () => {
  let on: Harness;
  beforeAll(async () => {
    on = await createHarness(await startHubspot({ records: 1 }));
  });
  afterAll(() => on?.close());

  const install = async (groupRef: string, integration = 'crm') => {
    await on.connect(groupRef);
    const config = { content: { provider: 'hubspot' } };
    const path = `/integrations/${integration}/installations?skipSampling=true`;
    return on.call('POST', path, { groupRef, config });
  };
  const deploy = (sourceYaml: string) =>
    on.call<{ name: string; warnings?: object[] }[]>('PUT', '/integrations:batch', { sourceYaml });
  const waiting = () =>
    on.ground.database.raw(
      "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
  const written = async (installationId: string): Promise<string[] | undefined> =>
    (await targetIn(on.ground.database, on.projectId, installationId))?.manifest.write?.objects.map(
      ({ objectName }) => objectName,
    );

  it('leaves an object that is taken out to what is installed while the deploy waits, and counts that', async () => {
    const deploying: ReturnType<typeof deploy>[] = [];
    const made = await on.ground.database.transaction(async (tx) => {
      await tx.rows(lockDeploys, [on.projectId]);
      deploying.push(deploy(manifest.replace('        - objectName: companies\n    proxy', '    proxy')));
      await expect.poll(waiting, { timeout: 10_000 }).toHaveLength(1);
      return install('before');
    });
    const [deployed] = await Promise.all(deploying);
    expect([deployed?.status, deployed?.json.find(({ name }) => name === 'crm')?.warnings]).toEqual([
      200,
      [
        expect.objectContaining({
          rule: 'object-taken-away',
          message: expect.stringContaining('write.companies, which 1 installation has (0 of them') as string,
        }),
      ],
    ]);
    expect(await written(made.json.id)).toEqual(['contacts', 'companies']);
    const later = await install('later');
    expect(await written(later.json.id)).toEqual(['contacts']);
  });

  it('waits for a deploy that revises the integration, and for no other', async () => {
    const acting: Promise<{ status: number }>[] = [];
    await on.ground.database.transaction(async (tx) => {
      // Written when it is known what the deploy means to whom.
      await tx.rows(lockRevisions);
      acting.push(deploy(manifest.replace('mapToName: people', 'mapToName: persons')));
      await expect.poll(waiting, { timeout: 10_000 }).toHaveLength(1);
      acting.push(install('same'));
      await expect.poll(waiting, { timeout: 10_000 }).toHaveLength(2);
      expect((await install('same', 'other')).status).toBe(201);
    });
    expect((await Promise.all(acting)).map(({ status }) => status)).toEqual([200, 201]);
  });
});
