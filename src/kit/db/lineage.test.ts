import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../../test/database.ts';
import {
  acceptDatabase,
  holdDatabase,
  judgeLineage,
  lookAtLineage,
  readLineageOf,
  type Lineage,
} from './lineage.ts';

const server = { systemId: '7', databaseOid: '5', timeline: '00000001', tableOid: '9' };
const lineage: Lineage = { ...server, seenAt: 1_000_000, heldBecause: null };
const judged = (change: Partial<Lineage>, options = {}, now = 1_010_000) =>
  judgeLineage({ server, lineage: { ...lineage, ...change }, now }, { failoverMs: 60_000, ...options });

describe('src/kit/db/lineage', () => {
  it('knows the database that it worked with, also after a long rest, and one that nobody worked with', () => {
    expect(judged({})).toEqual({ known: true });
    expect(judged({}, {}, 9_000_000)).toEqual({ known: true });
    expect(judgeLineage({ server, lineage: undefined, now: 0 }, { failoverMs: 0 })).toEqual({ known: true });
  });

  it.each([
    ['a dump that was restored elsewhere', { systemId: '8' }, {}, /another cluster/],
    ['a dump or a copy in the same cluster', { databaseOid: '6' }, {}, /another database/],
    ['a dump in the database that it was made of', { tableOid: '8' }, {}, /from a dump/],
    ['one that a running node saw later', {}, { sawAt: 1_000_001 }, /back in time/],
    ['one that was held', { heldBecause: 'so' }, {}, /so/],
  ])('holds %s', (_name, change, options, because) => {
    expect(judged(change, options)).toEqual({ held: expect.stringMatching(because) });
  });

  it('takes another timeline for a replica that was promoted, and for a restore when the last sign is older', () => {
    expect(judged({ timeline: '00000002' }, {}, 1_060_000)).toEqual({ promoted: true });
    expect(judged({ timeline: '00000002' }, {}, 1_061_000)).toEqual({
      held: expect.stringMatching(/last 61 s/),
    });
  });

  it('takes a database whose table no node of this release has noted for the one that it was', () => {
    expect(judged({ tableOid: null })).toEqual({ known: true });
  });

  it('tells nothing of a server in recovery', () => {
    const seen = { server: { ...server, timeline: '' }, now: 1_010_000 };
    expect(judgeLineage({ ...seen, lineage }, { failoverMs: 0 })).toEqual({ recovering: true });
    expect(judgeLineage({ ...seen, lineage: undefined }, { failoverMs: 0 })).toEqual({ recovering: true });
  });

  it('works without the right to read the id of the cluster', () => {
    const blind = { server: { ...server, systemId: '' }, lineage, now: 1_010_000 };
    expect(judgeLineage(blind, { failoverMs: 0 })).toEqual({ known: true });
  });

  it('keeps the hold until it is accepted, and the last sign never goes back', async () => {
    const test = await createTestDatabase();
    const { database } = test;
    try {
      const look = () => lookAtLineage(database, { failoverMs: 60_000 }, async () => {});
      const first = await look();
      expect(first.verdict).toEqual({ known: true });
      await database.raw(`UPDATE lineage SET seen_at = seen_at + interval '1 hour'`);
      expect((await look()).seenAt).toBeGreaterThan(first.seenAt + 3_000_000);
      await database.raw(`UPDATE lineage SET database_oid = 1`);
      expect((await look()).verdict).toEqual({ held: expect.stringMatching(/another database/) });
      await holdDatabase(database, 'another reason');
      expect((await look()).verdict).toEqual({ held: expect.stringMatching(/another database/) });
      await acceptDatabase(database);
      expect((await look()).verdict).toEqual({ known: true });
    } finally {
      await test.drop();
    }
  });

  it('knows a dump that was restored where it was made, whatever else makes the table anew on disk', async () => {
    const test = await createTestDatabase();
    const { database } = test;
    const look = () => lookAtLineage(database, { failoverMs: 60_000 }, async () => {});
    try {
      expect((await look()).verdict).toEqual({ known: true });
      await database.raw('VACUUM FULL lineage');
      expect((await look()).verdict).toEqual({ known: true });
      // As pg_restore --clean does.
      await database.raw(`CREATE TABLE dumped (LIKE lineage INCLUDING ALL); INSERT INTO dumped SELECT * FROM lineage;
        DROP TABLE lineage; ALTER TABLE dumped RENAME TO lineage`);
      expect((await look()).verdict).toEqual({ held: expect.stringMatching(/dump/) });
      await acceptDatabase(database);
      expect((await look()).verdict).toEqual({ known: true });
      await database.raw('TRUNCATE lineage');
      expect((await look()).verdict).toEqual({ known: true });
    } finally {
      await test.drop();
    }
  });

  it('works beside nodes that note nothing of the table, and reads what has no such column', async () => {
    const test = await createTestDatabase();
    const { database } = test;
    const look = () => lookAtLineage(database, { failoverMs: 60_000 }, async () => {});
    const former = `INSERT INTO lineage AS known (system_id, database_oid, timeline, seen_at)
      SELECT '', oid, '00000001', now() FROM pg_database WHERE datname = current_database()
      ON CONFLICT (one) DO UPDATE SET seen_at = excluded.seen_at`;
    try {
      for (const _twice of [1, 2]) {
        await database.raw(former);
        expect((await look()).verdict).toEqual({ known: true });
      }
      const noted = await database.raw(`SELECT table_oid = 'lineage'::regclass::oid AS same FROM lineage`);
      expect(noted).toEqual([{ same: true }]);
      await database.raw('ALTER TABLE lineage DROP COLUMN table_oid');
      expect((await readLineageOf(database)).lineage?.tableOid).toBeNull();
    } finally {
      await test.drop();
    }
  });

  it('finds a promotion again until what is to be done for it was done', async () => {
    const test = await createTestDatabase();
    const { database } = test;
    const look = (promoted: () => Promise<void>) =>
      lookAtLineage(database, { failoverMs: 60_000 }, promoted).then(({ verdict }) => verdict);
    try {
      await look(async () => {});
      await database.raw(`UPDATE lineage SET timeline = '00000000'`);
      const failing = () => Promise.reject(new Error('not yet'));
      for (const _twice of [1, 2]) await expect(look(failing)).rejects.toThrow('not yet');
      let done = 0;
      const doing = async (): Promise<void> => void (done += 1);
      expect([await look(doing), await look(doing), done]).toEqual([{ promoted: true }, { known: true }, 1]);
    } finally {
      await test.drop();
    }
  });
});
