import { describe, expect, it } from 'vitest';
import { openDatabase } from '../src/kit/db/database.ts';
import { migrate } from '../src/kit/db/migrate.ts';
import { createEmptyDatabase, createTestDatabase } from './database.ts';

describe('test/database', () => {
  it('gives each test a migrated database of its own, quickly', async () => {
    const started = performance.now();
    const one = await createTestDatabase();
    const took = performance.now() - started;
    const other = await createTestDatabase();
    try {
      expect(took).toBeLessThan(2_000);
      await one.database.raw('UPDATE clock SET shift = $1', ['1 hour']);
      const [shift] = await other.database.raw('SELECT shift::text FROM clock');
      expect(shift).toEqual({ shift: '00:00:00' });
      expect(await migrate(one.database, { directory: 'migrations' })).toEqual({ applied: [], later: [] });
    } finally {
      await one.drop();
      await other.drop();
    }
  });

  it('drops a database even while somebody is still connected', async () => {
    const created = await createEmptyDatabase();
    const stranger = openDatabase({ url: created.url, poolSize: 1, applicationName: 'stranger' });
    await stranger.raw('SELECT 1');
    await created.drop();
    await expect(stranger.raw('SELECT 1')).rejects.toThrow('database');
    await stranger.close();
  });
});
