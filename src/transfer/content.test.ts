import { describe, expect, it } from 'vitest';
import type { Issue } from '../kit/problem.ts';
import { readContent } from './content.ts';

const [first, second] = ['01920000-0000-7000-8000-000000000001', '01920000-0000-7000-8000-000000000002'];
const time = '2026-01-01T00:00:00Z';
const times = { created_at: time, updated_at: time };
const acme = { group_ref: 'acme', name: 'Acme', ...times };
const ada = { group_ref: 'acme', consumer_ref: 'ada', name: 'Ada', ...times };
const app = {
  id: second,
  provider: 'hubspot',
  client_id: 'c',
  external_ref: null,
  scopes: null,
  metadata: {},
  is_default: true,
  ...times,
};
const connection = {
  id: first,
  provider: 'hubspot',
  provider_app_id: second,
  group_ref: 'acme',
  consumer_ref: 'ada',
  workspace_ref: null,
  provider_consumer_ref: null,
  auth_scheme: 'apiKey',
  status: 'working',
  status_detail: null,
  provider_metadata: {},
  scopes: null,
  access_issued_at: null,
  access_expires_at: null,
  as_of: time,
  signed_in_at: null,
  moved_at: null,
  ...times,
};
type Rows = Record<string, { row: object; secret?: unknown }[]>;
const contentOf = (ofConnection: object = {}): Rows => ({
  providerApps: [{ row: app, secret: 'client-secret' }],
  groups: [{ row: acme }],
  consumers: [{ row: ada }],
  connections: [{ row: { ...connection, ...ofConnection }, secret: { kind: 'apiKey', apiKey: 'k' } }],
});

async function issuesOf(content: Rows, version?: number): Promise<Pick<Issue, 'name' | 'detail'>[]> {
  const texts = Object.entries(content).map(([kind, rows]) => [
    kind,
    rows.map(({ row, ...rest }) => ({ row: JSON.stringify(row), ...rest })),
  ]);
  try {
    await readContent(Buffer.from(JSON.stringify(Object.fromEntries(texts))), version);
    return [];
  } catch (error) {
    return (error as { details: { issues: Issue[] } }).details.issues;
  }
}

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();

describe('transfer/content', () => {
  it('takes what an export holds', async () => {
    expect(await issuesOf(contentOf())).toEqual([]);
    // A provider app may be deleted while connections name it.
    expect(await issuesOf(contentOf({ provider_app_id: first }))).toEqual([]);
  });

  it.each<[what: string, members: object, column: string, named: string]>([
    ['group', { group_ref: 'nobody' }, 'group_ref', 'groups'],
    ['consumer', { consumer_ref: 'eve' }, 'consumer_ref', 'consumers'],
  ])('a connection of a %s that is not in the file is refused', async (_what, members, column, named) => {
    expect(await issuesOf(contentOf(members))).toContainEqual(
      expect.objectContaining({
        name: `connections[0].${column}`,
        detail: `names nothing that is among the ${named} of the file`,
      }),
    );
  });

  it('a file of the first version has no consumers that its connections name', async () => {
    const { as_of: _asOf, signed_in_at: _signedInAt, moved_at: _movedAt, ...row } = connection;
    const content = contentOf();
    content['connections'] = [{ row, secret: { kind: 'apiKey', apiKey: 'k' } }];
    content['consumers'] = [{ row: { consumer_ref: 'ada', name: 'Ada' } }];
    expect(await issuesOf(content, 1)).toEqual([]);
  });

  it.each(['as_of', 'moved_at', 'signed_in_at'])('a %s that is to come is refused', async (column) => {
    expect(await issuesOf(contentOf({ [column]: inDays(0.9) }))).toEqual([]);
    expect(await issuesOf(contentOf({ [column]: inDays(1.1) }))).toMatchObject([
      { name: `connections[0].${column}` },
    ]);
  });

  it('a key that is there twice is refused', async () => {
    const content = contentOf();
    content['groups']?.push({ row: acme });
    expect(await issuesOf(content)).toMatchObject([
      { name: 'groups[1].group_ref', detail: 'is there twice' },
    ]);
  });
});
