import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startHubspot } from '../../simulator/hubspot/index.ts';
import type { Page } from '../kit/paging-schema.ts';
import { createHarness, type Harness } from './harness.fixture.ts';

const large = 900_000;
const count = 7;
/** One of them holds less than 1 MiB. */
const mostOnPage = 2;

let on: Harness;
let configsOf: string;

/** Rows of all lists that hold documents: `count` of each and more, which hold a few bytes each. */
beforeAll(async () => {
  on = await createHarness(await startHubspot({ records: 5 }));
  for (let each = 0; each < count; each += 1) {
    const groupRef = `group-${each}`;
    await on.connect(groupRef);
    const config = { content: { provider: 'hubspot' } };
    const made = await on.call('POST', '/integrations/crm/installations', { groupRef, config });
    configsOf = made.json.id;
  }
  const copies = `FROM generate_series(1, ${count}) n`;
  await on.ground.database.raw(
    `INSERT INTO config (project_id, installation_id, id, revision_id, created_by, content)
     SELECT project_id, installation_id, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, revision_id, created_by, content
     FROM config CROSS JOIN (SELECT n ${copies}) each WHERE installation_id = $1`,
    [configsOf],
  );
  await on.ground.database.raw(
    `INSERT INTO revision (project_id, integration_id, id, spec_version, content)
     SELECT project_id, integration_id, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, spec_version, content
     FROM revision r CROSS JOIN (SELECT n ${copies}) each WHERE content->>'name' = 'crm'`,
  );
  await on.ground.database.raw(
    `INSERT INTO integration (project_id, id, name, provider, latest_revision_id)
     SELECT project_id, gen_random_uuid(), name || n, provider, latest_revision_id
     FROM integration CROSS JOIN (SELECT n ${copies}) each WHERE name = 'other'`,
  );
  await on.ground.database.raw(
    `INSERT INTO revision (project_id, integration_id, id, spec_version, content)
     SELECT i.project_id, i.id, r.id, r.spec_version, r.content
     FROM integration i JOIN revision r ON r.id = i.latest_revision_id WHERE i.name LIKE 'other_'`,
  );
});
afterAll(() => on?.close());

const lists = [
  ['/installations', 'whole'],
  ['/integrations/crm/installations', 'whole'],
  ['/integrations', 'whole'],
  ['/integrations/crm/revisions', 'paged'],
  ['configs', 'paged'],
  ['/events', 'paged'],
] as const;
type Item = { id: string };

const pathOf = (list: string): string => (list === 'configs' ? `/installations/${configsOf}/configs` : list);

/** The ids of each page. */
async function walk(path: string): Promise<string[][]> {
  const pages: string[][] = [];
  for (let token = ''; ;) {
    const { status, json } = await on.call<Page<Item>>('GET', `${path}?pageSize=100${token}`);
    expect(status).toBe(200);
    pages.push(json.results.map(({ id }) => id));
    if (json.pagination.done) return pages;
    token = `&pageToken=${json.pagination.nextPageToken}`;
  }
}

describe('installations/large-pages', () => {
  it('a page ends when its configs, manifests or events hold 1 MiB, and the pages are the whole', async () => {
    const small = new Map<string, string[]>();
    for (const [list] of lists) {
      const pages = await walk(pathOf(list));
      expect([list, pages.length]).toEqual([list, 1]);
      expect(pages.flat().length).toBeGreaterThanOrEqual(count);
      small.set(list, pages.flat());
    }
    const filled = `repeat('x', ${large})`;
    await on.ground.database.raw(
      `UPDATE config SET content = jsonb_set(content::jsonb, '{read}', jsonb_build_object('objects', jsonb_build_object('people',
         jsonb_build_object('objectName', 'people', 'selectedFieldMappings', jsonb_build_object('nick', ${filled})))))`,
    );
    await on.ground.database.raw(
      `UPDATE revision SET content = jsonb_set(content::jsonb, '{displayName}', to_jsonb(${filled}))`,
    );
    await on.ground.database.raw(`UPDATE event SET data = jsonb_build_object('config', ${filled})`);

    for (const [list, comes] of lists) {
      const pages = await walk(pathOf(list));
      const ids = pages.flat();
      expect([list, ids]).toEqual([list, small.get(list)]);
      const sizes = pages.map((page) => page.length);
      const rest = ids.length % mostOnPage;
      const full = Array.from({ length: Math.floor(ids.length / mostOnPage) }, () => mostOnPage);
      expect([list, sizes]).toEqual([list, rest === 0 ? full : [...full, rest]]);
      if (comes === 'paged') continue;
      const whole = await on.call<Item[]>('GET', list);
      expect(whole.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(whole.json.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      expect(JSON.stringify(whole.json).length).toBeGreaterThan(ids.length * large);
    }
  });
});
