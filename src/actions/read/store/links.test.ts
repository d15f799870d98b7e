import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/database.ts';
import { statement } from '../../../kit/db/statement.ts';
import { newId } from '../../../kit/ids.ts';
import { forgetLinks, knownLinks, linkColumns, linkParts, type Link } from './links.ts';

const dayMs = 24 * 3_600_000;
const remember = statement(
  'test_remember',
  `WITH clock AS MATERIALIZED (SELECT svc_now() AS now),
  pages AS (SELECT n, $1::uuid AS project_id, $2::uuid AS installation_id, 'contacts' AS object FROM generate_series(1, 2) n),
  ${linkParts(3, 'pages')}
  SELECT 1`,
);

describe('actions/read/store/links', () => {
  let test: TestDatabase;
  const feed = { projectId: newId(), installationId: newId(), objectName: 'Contacts', until: Date.now() };
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test?.drop());

  const keep = (...links: (Omit<Link, 'digests'> & { digests: string; n?: number })[]) =>
    test.database.rows(remember, [
      feed.projectId,
      feed.installationId,
      ...linkColumns(
        links.map((link) => Object.assign({ n: 1 }, link, { digests: Buffer.from(link.digests) })),
      ),
    ]);
  const known = async (recordId: string): Promise<string | undefined> =>
    (await knownLinks(test.database, feed, [recordId])).get(recordId)?.digests.toString();

  it('keeps what was delivered, and what was found first', async () => {
    await keep(
      { recordId: 'a', digests: 'one', delivered: true },
      { recordId: 'b', digests: 'two', delivered: false },
    );
    expect([await known('a'), await known('b'), await known('c')]).toEqual(['one', 'two', undefined]);
    await keep({ recordId: 'b', digests: 'three', delivered: true });
    expect(await known('b')).toBe('three');
  });

  it('lets what was delivered meanwhile stand against what was only found', async () => {
    await keep({ recordId: 'd', digests: 'delivered', delivered: true });
    await keep({ recordId: 'd', digests: 'found first', delivered: false });
    expect(await known('d')).toBe('delivered');
    await keep({ recordId: 'd', digests: 'found', before: Buffer.from('other'), delivered: false });
    expect(await known('d')).toBe('delivered');
    await keep({ recordId: 'd', digests: 'found', before: Buffer.from('delivered'), delivered: false });
    expect(await known('d')).toBe('found');
  });

  it('takes the later one of two pages that have the same record, and what is delivered before what is found', async () => {
    await keep(
      { recordId: 'e', digests: 'first', delivered: true },
      { recordId: 'e', digests: 'second', delivered: true, n: 2 },
      { recordId: 'f', digests: 'delivered', delivered: true },
      { recordId: 'f', digests: 'found', delivered: false, n: 2 },
    );
    expect([await known('e'), await known('f')]).toEqual(['second', 'delivered']);
  });

  it('forgets after a week what was not found any more', async () => {
    await keep({ recordId: 'gone', digests: 'x', delivered: true });
    await forgetLinks(test.database, { ...feed, until: feed.until + 6 * dayMs });
    expect(await known('gone')).toBe('x');
    const later = { ...feed, until: feed.until + 8 * dayMs };
    const [, old] = [...(await knownLinks(test.database, later, ['gone']))][0] ?? [];
    expect(old?.isOld).toBe(true);
    await forgetLinks(test.database, later);
    expect(await known('gone')).toBeUndefined();
  });
});
