import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../test/database.ts';
import { twoProjects } from './harness.fixture.ts';

describe('transfer/half-moved', () => {
  let test: TestDatabase;
  let projects: ReturnType<typeof twoProjects>;
  beforeEach(async () => {
    test = await createTestDatabase();
    projects = twoProjects(test.database);
  });
  afterEach(() => test?.drop());

  it.each([
    [
      'export-too-large',
      'has more than 20000 groups',
      `INSERT INTO customer_group (project_id, group_ref, name) SELECT NEW.project_id, n::text, 'G' FROM generate_series(1, 20001) n`,
    ],
    [
      'export-malformed',
      'names nothing that is among the destinations',
      `INSERT INTO notification_route (project_id, event_type, destination_id) VALUES (NEW.project_id, 'connection.created', NEW.id)`,
    ],
    [
      'export-sealed',
      'providerApps[',
      `INSERT INTO provider_app (project_id, id, provider, client_id, client_secret, metadata, is_default)
         VALUES (NEW.project_id, NEW.id, 'hubspot', 'c', '\\x00', '{}', true)`,
    ],
  ])(
    'says that the connections are moved where no file can be made meanwhile: %s',
    async (code, detail, sql) => {
      await projects.connect({});
      await test.database.raw(`
      CREATE FUNCTION meanwhile() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${sql}; RETURN NULL; END $$;
      CREATE TRIGGER meanwhile AFTER UPDATE OF moved_at ON connection FOR EACH ROW
        WHEN (NEW.moved_at IS NOT NULL) EXECUTE FUNCTION meanwhile()`);
      await expect(projects.moved()).rejects.toMatchObject({
        code,
        message: expect.stringMatching(
          /^No file was made, and the connections are moved, or some of them\. /,
        ) as string,
        details: { remedy: expect.stringContaining('POST …/exports:undo') as string },
      });
      await expect(projects.moved()).rejects.toMatchObject({
        code,
        message: expect.stringContaining(detail) as string,
      });
      expect(await projects.transfer.undo(projects.from)).toBe(1);
    },
  );
});
