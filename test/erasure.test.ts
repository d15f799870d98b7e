import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProxyLog } from '../src/actions/proxy/log-writer.ts';
import { historiesOf } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import type { Target } from '../src/installations/index.ts';
import type { Ground } from '../src/kit/ground.ts';
import { newId } from '../src/kit/ids.ts';
import { createLog } from '../src/kit/log.ts';
import { createExchangeLog } from '../src/operations/exchanges/exchange-log.ts';
import type { ProviderClient } from '../src/providers/index.ts';
import { eraseSome } from '../src/retention/erasures.ts';
import { createRetention } from '../src/retention/index.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';

const mark = 'payload-of-acme';

/** Every column of every table is filled with a mark. These tables and columns keep it after an erasure, each with the reason. */
const stays: Record<string, string> = {
  ab_batch: 'work that is under way',
  ab_head: 'work that is under way',
  ab_turn: 'work that is under way',
  activity: 'counts alone',
  activity_delta: 'counts alone',
  operation_delta: 'counts alone',
  api_key: 'the builder’s',
  audit_log: 'says who asked for what, and for the erasure',
  budget: 'says when a connection may be called',
  config: 'of an installation, which stays',
  connection: 'stays until it is deleted',
  consumer: 'the name of a person with a connection, for nodes of the release before',
  customer_group: 'the name of a group with connections',
  destination: 'the builder’s',
  erasure: 'says what was erased',
  event_topic_route: 'the builder’s',
  group_consumer: 'the name of a person with a connection',
  'idempotency.key': 'what is asked for twice must not be done twice',
  'idempotency.principal': 'whose key it is',
  'idempotency.hash': 'a digest of the request',
  invitation: 'whom the builder invited',
  installation: 'stays until it is deleted',
  integration: 'the builder’s',
  jwt_key: 'the builder’s',
  lane: 'holds no content',
  master_key: 'of the operator',
  member: 'the builder’s',
  migrations: 'of the service',
  notification_route: 'the builder’s',
  person: 'who works for the builder',
  person_identity: 'the same',
  person_session: 'the same',
  project: 'the builder’s',
  provider_app: 'the builder’s',
  rate_limit: 'how often a key asked',
  read_feed: 'of an installation, which stays',
  read_run: 'work that is under way',
  read_seen: 'hashes, until the next run',
  replay: 'says what the builder asked for',
  revision: 'the builder’s',
  second_factor: 'who works for the builder',
  sign_in_failure: 'for a day; hashed',
  topic: 'the builder’s',
  turn: 'work that is under way; hashed',
  work: 'work that is under way; ids alone',
};

const nowhere = {
  integrationId: newId(),
  installationId: newId(),
  connectionId: newId(),
  provider: 'hubspot',
};
const answering: ProviderClient = {
  send(request, _maySend, told) {
    const result = { answer: { status: 200, headers: {}, body: '{}' } };
    told?.({ request, result, id: newId(), totalMs: 1 });
    return Promise.resolve(result);
  },
};

interface Column {
  name: string;
  type: string;
  /** The values that a CHECK allows. */
  allowed: string[] | null;
}

describe('test/erasure', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await createTestDatabase();
  });
  afterAll(() => test.drop());

  const tablesOf = async (): Promise<Map<string, Column[]>> => {
    const rows = await test.database.raw(
      `SELECT c.relname AS "table", a.attname AS name, format_type(a.atttypid, NULL) AS type, (
        SELECT array_agg(m[1]) FROM pg_constraint k, regexp_matches(pg_get_constraintdef(k.oid), '''([^'']+)''::text', 'g') m
        WHERE k.conrelid = c.oid AND k.contype = 'c' AND k.conkey = ARRAY[a.attnum]) AS allowed
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
      WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
        AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity = '' ORDER BY c.relname, a.attnum`,
    );
    const tables = new Map<string, Column[]>();
    for (const { table, ...column } of rows as unknown as (Column & { table: string })[])
      tables.set(table, [...(tables.get(table) ?? []), column]);
    return tables;
  };

  /** A row whose every text, JSON and bytea has the mark, unless it says whose it is or what state it is in. */
  async function fill(table: string, columns: readonly Column[], ids: Record<string, string>): Promise<void> {
    const valueOf = ({ name, type, allowed }: Column): unknown => {
      if (ids[name] !== undefined && (type === 'uuid' || name === 'group_ref')) return ids[name];
      if (allowed) return allowed.at(-1);
      if (type === 'uuid') return ids['id'];
      if (type === 'text') return `${mark} ${table}.${name}`;
      if (type === 'text[]') return [`${mark} ${table}.${name}`];
      // An index reads the ids in it.
      if (name === 'keys') return JSON.stringify([[`${mark} ${table}.${name}`, '1', 0]]);
      if (type === 'json' || type === 'jsonb')
        return JSON.stringify({ groupRef: ids['group_ref'], mark: `${mark} ${table}.${name}` });
      if (type === 'bytea') return Buffer.from(`${mark} ${table}.${name}`);
      if (type.startsWith('timestamp')) return new Date();
      if (type === 'boolean') return false;
      if (type === 'interval') return '0';
      return 1;
    };
    await test.database.raw(
      `INSERT INTO ${table} (${columns.map(({ name }) => name).join(', ')}) VALUES (${columns.map((_, at) => `$${at + 1}`).join(', ')})`,
      columns.map(valueOf),
    );
  }

  /** The columns in which the mark is found, as text or as bytes. */
  async function marked(
    tables: ReadonlyMap<string, readonly Column[]>,
    projectId: string,
  ): Promise<string[]> {
    const found: string[] = [];
    for (const [table, columns] of tables)
      for (const { name, type } of columns) {
        if (!/text|json|bytea/.test(type)) continue;
        const text = type === 'bytea' ? `encode(${name}, 'escape')` : `${name}::text`;
        const mine = columns.some((column) => column.name === 'project_id')
          ? 'project_id = $1'
          : '$1::uuid IS NOT NULL';
        const rows = await test.database.raw(
          `SELECT FROM ${table} WHERE ${mine} AND position('${mark}' IN ${text}) > 0`,
          [projectId],
        );
        if (rows.length > 0) found.push(`${table}.${name}`);
      }
    return found;
  }

  it('is not outlived by what waited in the memory of a node until it was done', async () => {
    const projectId = newId();
    const [log, operationId] = [createLog('error'), newId()];
    const lines = createProxyLog({ database: test.database, log } as Ground, { proxyLogKeepDays: 7 });
    const exchanges = createExchangeLog({ database: test.database, log }, 7);
    const called = async (groupRef: string): Promise<void> => {
      const target = { ...nowhere, projectId, groupRef } as Target;
      const times = { status: 200, problem: undefined, providerMs: 1, totalMs: 1 };
      lines.note({ target, id: newId(), method: 'GET', path: '/', ...times });
      const of = { projectId, operationId, groupRef, attempt: 1, withGoodAnswers: true };
      await exchanges.watch(answering, of).send({ method: 'GET', path: '/' });
    };
    const kept = (table: string) =>
      test.database.raw(`SELECT group_ref FROM ${table} WHERE project_id = $1 ORDER BY id`, [projectId]);
    const histories = historiesOf(readConfig({}));
    const { erasures } = createRetention(test.database, histories);
    await called('acme');
    await called('globex');
    const { id } = await erasures.start(projectId, { groupRef: 'acme' });
    while (await eraseSome(test.database, histories, 100));
    expect(await erasures.get(projectId, id)).toMatchObject({ status: 'done' });
    await called('acme');
    await Promise.all([lines.close(), exchanges.close()]);
    const others = [{ group_ref: 'globex' }, { group_ref: 'acme' }];
    expect(await kept('proxy_log')).toEqual(others);
    expect(await kept('exchange')).toEqual(others);
  });

  it('leaves nothing of a group in any column of any table but those that say why', async () => {
    const tables = await tablesOf();
    // One row each, about the service.
    for (const table of ['clock', 'lineage']) tables.delete(table);
    const projectId = newId();
    const ids = (group: string): Record<string, string> => {
      const [id, installation, connection, destination] = [newId(), newId(), newId(), newId()];
      return {
        project_id: projectId,
        id,
        operation_id: id,
        message_id: id,
        installation_id: installation,
        connection_id: connection,
        destination_id: destination,
        group_ref: group,
      };
    };
    const mine = ids('acme');
    for (const [table, columns] of tables) {
      if (table === 'migrations') continue;
      const own = table === 'installation' ? { ...mine, id: mine['installation_id']! } : mine;
      await fill(table, columns, own);
    }
    const before = await marked(tables, projectId);
    expect(before.length).toBeGreaterThan(60);
    const histories = historiesOf(readConfig({}));
    const { erasures } = createRetention(test.database, histories);
    const { id } = await erasures.start(projectId, { groupRef: 'acme' });
    while (await eraseSome(test.database, histories, 2));
    const left = (await marked(tables, projectId)).filter(
      (column) => stays[column] === undefined && stays[column.split('.')[0]!] === undefined,
    );
    expect(left).toEqual([]);
    const { removed } = await erasures.get(projectId, id);
    expect(Object.keys(removed).toSorted()).toEqual(
      histories
        .filter(({ erase }) => erase)
        .map(({ kind }) => kind)
        .toSorted(),
    );
    for (const count of Object.values(removed)) expect(count).toBeGreaterThan(0);
    const known = new Set([...tables.keys(), ...before]);
    expect(Object.keys(stays).filter((name) => !known.has(name))).toEqual([]);
  });
});
