import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { newId } from '../kit/ids.ts';
import { createInstallationStatus } from './installation-status.ts';
import type { Ended } from './settlement.ts';

describe('operations/installation-status', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test?.drop());

  const installed = async (id: string): Promise<string> => {
    const [projectId, integrationId] = [newId(), newId()];
    await test.database.raw(`INSERT INTO project (id, name, app_name) VALUES ($1, $2, 'App')`, [
      projectId,
      `p${projectId}`,
    ]);
    await test.database.raw(
      `INSERT INTO integration (project_id, id, name, provider, latest_revision_id) VALUES ($1, $2, 'crm', 'hubspot', $3)`,
      [projectId, integrationId, newId()],
    );
    await test.database.raw(
      `INSERT INTO installation (project_id, id, integration_id, group_ref, connection_id, config_id, created_by)
       VALUES ($1, $2, $3, 'acme', $4, $5, 'api')`,
      [projectId, id, integrationId, newId(), newId()],
    );
    return projectId;
  };

  it('tells each of two projects with an installation of one id of its own operations', async () => {
    const installationId = newId();
    const [one, other] = [await installed(installationId), await installed(installationId)];
    const status = createInstallationStatus(test.database, pino({ level: 'silent' }));
    const end = (projectId: string, how: Ended['status']) =>
      status.note([{ projectId, installationId, status: how } as Ended]);
    end(one, 'failure');
    end(other, 'success');
    await status.close();
    const rows = await test.database.raw(
      'SELECT project_id, last_operation_status AS last FROM installation WHERE id = $1',
      [installationId],
    );
    expect(new Map(rows.map((row) => [row['project_id'], row['last']]))).toEqual(
      new Map([
        [one, 'failure'],
        [other, 'success'],
      ]),
    );
  });
});
