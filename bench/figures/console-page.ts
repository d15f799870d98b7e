import { openDatabase, type Database } from '../../src/kit/db/database.ts';
import { scaled, type Figure, type Pair } from '../figure.ts';
import { startServer, startStage, type Stage } from '../stage.ts';

const many = scaled(1_000_000);
const few = 1_000;
/** So many rows a statement: its time is limited. */
const part = 50_000;
const times = 30;
const pageSize = 100;

/** What the pages of the console ask for when they are opened, with each of their filters. */
function listsOf({ installationId }: Stage): string[] {
  const operations = `operations?pageSize=${pageSize}`;
  const deliveries = `deliveries?pageSize=${pageSize}`;
  const proxyLogs = `proxy-logs?pageSize=${pageSize}`;
  return [
    operations,
    ...['status=failure', 'status=success', 'errorCategory=validation', 'unresolved=true'].map(
      (filter) => `${operations}&${filter}`,
    ),
    ...['object=contacts', 'actionType=write', 'groupRef=g', `installationId=${installationId}`].map(
      (filter) => `${operations}&${filter}`,
    ),
    deliveries,
    ...['status=failed', 'object=contacts', 'groupRef=g', `installationId=${installationId}`].map(
      (filter) => `${deliveries}&${filter}`,
    ),
    proxyLogs,
    ...['status=429', 'method=GET', 'groupRef=g', `installationId=${installationId}`].map(
      (filter) => `${proxyLogs}&${filter}`,
    ),
    `events?pageSize=${pageSize}`,
    `audit-log?pageSize=${pageSize}`,
    `installations?pageSize=${pageSize}`,
    `connections?pageSize=${pageSize}`,
    'overview?range=day',
    'search?q=someone',
  ];
}

export const consolePage: Figure = {
  id: 'console-page',
  about: `the first page of each list of the console, over HTTP, with ${many} operations, deliveries, proxied calls and events: the one that loses most, ${times} times`,
  unit: 'ms',
  yardstick: `the same list with ${few} of each`,
  goal: { of: 'ratio', atMost: 2 },
  prepare: async () => {
    const upstream = await startServer('upstream.ts');
    const origin = `http://127.0.0.1:${upstream.port}`;
    const [large, small] = [await openFilled(origin, many), await openFilled(origin, few)];
    const ours = listsOf(large);
    const theirs = listsOf(small);
    return {
      run: async () => {
        const pairs: Pair[] = [];
        for (const [at, path] of ours.entries())
          pairs.push({ ...(await inTurn(large, path, small, theirs[at] ?? '')), note: path });
        return pairs.reduce((worst, one) =>
          one.value / one.yardstick > worst.value / worst.yardstick ? one : worst,
        );
      },
      close: async () => {
        await large.close();
        await small.close();
        await upstream.close();
      },
    };
  },
};

async function inTurn(large: Stage, path: string, small: Stage, other: string): Promise<Pair> {
  const pair = { value: 0, yardstick: 0 };
  for (let n = 0; n < times; n += 1) {
    pair.value += (await asked(large, path)) / times;
    pair.yardstick += (await asked(small, other)) / times;
  }
  return pair;
}

async function asked({ call, projectId }: Stage, path: string): Promise<number> {
  const startedAt = performance.now();
  await call('GET', `/v1/projects/${projectId}/${path}`);
  return performance.now() - startedAt;
}

async function openFilled(origin: string, count: number): Promise<Stage> {
  const stage = await startStage(origin, { role: 'api' });
  const database = openDatabase({ url: stage.databaseUrl, poolSize: 1, applicationName: 'svc bench' });
  const [moment] = await database.raw('SELECT left(svc_uuid_floor(now())::text, 14) AS first');
  for (const insert of inserts(stage, String(moment?.['first']), Math.min(100, count / pageSize)))
    for (let from = 1; from <= count; from += part)
      await database.raw(insert(from, Math.min(from + part - 1, count)));
  await settled(database);
  await database.close();
  return stage;
}

/** As autovacuum has it by then, which looks at no partition that nothing was written to. */
async function settled(database: Database): Promise<void> {
  const written = await database.raw(
    `SELECT p.relid::regclass::text AS name FROM unnest('{operation,operation_mark,message,delivery,proxy_log,event}'::regclass[]) t
    CROSS JOIN LATERAL pg_partition_tree(t) p WHERE p.isleaf AND pg_relation_size(p.relid) > 0`,
  );
  for (const { name } of written) await database.raw(`ANALYZE ${String(name)}`);
}

type Insert = (from: number, to: number) => string;

/**
 * A quarter of the operations failed, one in `rare` is unresolved; of the deliveries one in `rare` is dead: enough for a whole page, since one
 * of few rows is no yardstick for it. `first`: how all ids begin.
 */
function inserts({ projectId, installationId }: Stage, first: string, rare: number): Insert[] {
  const id = `('${first}7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`;
  const rows = (from: number, to: number): string => `FROM generate_series(${from}, ${to}) n`;
  const ours = `'${projectId}', ${id}`;
  const mark =
    (name: string, every: number): Insert =>
    (from, to) =>
      `INSERT INTO operation_mark (project_id, operation_id, mark) SELECT ${ours}, '${name}' ${rows(from, to)} WHERE n % ${every} = 0`;
  return [
    (from, to) =>
      `INSERT INTO operation (project_id, id, integration_id, installation_id, config_id, action_type, request, resource, status, errors, total, unknown)
      SELECT ${ours}, '${projectId}', '${installationId}', '${projectId}', 'write', '{"type":"create"}', 'contacts',
        CASE WHEN n % 4 = 0 THEN 'failure' ELSE 'success' END, CASE WHEN n % 4 = 0 THEN '[{"index":0,"category":"validation","retryable":false,"message":"refused"}]'::json END, 1,
        CASE WHEN n % ${rare} = 0 THEN 1 ELSE 0 END ${rows(from, to)}`,
    mark('failure', 4),
    mark('validation', 4),
    mark('unresolved', rare),
    (from, to) =>
      `INSERT INTO message (project_id, id, operation_id, installation_id, group_ref, object, destination_id, page, slice, records, bytes, encoding, body, keys)
      SELECT ${ours}, ${id}, '${installationId}', 'g', 'contacts', '${projectId}', 0, 0, 1, 2, 0, '{}', '[]' ${rows(from, to)}`,
    (from, to) =>
      `INSERT INTO delivery (project_id, message_id, destination_id, status, ended, attempts, first_at, last_at)
      SELECT ${ours}, '${projectId}', s, s, 1, now(), now()
      FROM (SELECT n, CASE WHEN n % ${rare} = 0 THEN 'failed' ELSE 'delivered' END AS s ${rows(from, to)}) n`,
    (from, to) =>
      `INSERT INTO proxy_log (project_id, id, integration_id, installation_id, connection_id, group_ref, provider, method, path, status, total_ms)
      SELECT ${ours}, '${projectId}', '${installationId}', '${projectId}', 'g', 'hubspot', CASE WHEN n % 2 = 0 THEN 'GET' ELSE 'POST' END,
        '/crm/v3/objects/contacts', CASE WHEN n % 10 = 0 THEN 429 ELSE 200 END, 5 ${rows(from, to)}`,
    (from, to) =>
      `INSERT INTO event (project_id, id, type, data) SELECT ${ours}, 'write.async.done', '{}' ${rows(from, to)}`,
  ];
}
