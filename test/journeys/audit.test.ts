import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { operationsOf, requestOf, type Operation } from '../access-requests.ts';
import { fill, openProject, type Refs, type World } from '../access-world.ts';
import { auditPartitions } from '../../src/events/index.ts';
import { newId } from '../../src/kit/ids.ts';
import { keepPartitions } from '../../src/kit/db/partitions.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type CallOptions, type Platform } from '../platform.ts';

interface Entry {
  id: string;
  time: string;
  action: string;
  target: { type: string; id: string };
  actor: { kind: string; keyId?: string; groupRef?: string; consumerRef?: string };
  address?: string;
  requestId?: string;
  details?: Record<string, unknown>;
}
interface Page {
  results: Entry[];
  pagination: { done: boolean; nextPageToken?: string };
}

/** What a person does with an account of their own, by a cookie; `people-account.test.ts` looks for its entries. */
const ofPeople = /^\/v1\/(session|person|invitations:)/;
/** Those that cannot succeed here: `people-links.test.ts` and `transfer.test.ts` look for their entries. */
const elsewhere = new Set(['removeMember', 'importProject']);
/** Management operations without an entry; each needs a reason. `previewWrite` is a dry run, which changes nothing. */
const silent = new Set(['previewWrite']);

describe('test/journeys/audit', () => {
  let test: TestDatabase;
  let platform: Platform;
  let operations: Operation[];
  let world: World;
  let log: string;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    operations = operationsOf((await platform.call<never>('GET', '/openapi.json')).body);
    world = await fill(await openProject(platform, 'audited'), 'audited', test.database);
    log = '/projects/audited/audit-log';
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const read = async (query = ''): Promise<Entry[]> => {
    const answer: Answer<Page> = await world.platform.call('GET', `${log}${query}`);
    expect(answer.status).toBe(200);
    return answer.body.results;
  };

  /** Bodies that succeed, where those of the walk do only for their shape; and an operation of unknown outcome. */
  async function successfulBodies(): Promise<Record<string, (refs: Refs) => unknown>> {
    const { publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    });
    const shown = await world.platform.call<{ oauth2AuthorizationCode: { accessToken: { token: string } } }>(
      'GET',
      `/projects/audited/connections/${world.acme.connection}?includeCreds=true`,
    );
    const { accessToken } = shown.body.oauth2AuthorizationCode;
    const outcome = {
      kind: 'unknown',
      failure: { category: 'unknownOutcome', retryable: false, message: 'lost' },
    };
    await test.database.raw('UPDATE record SET outcome = $2 WHERE operation_id = $1', [
      world.globex.operation,
      JSON.stringify(outcome),
    ]);
    const passphrase = 'correct horse battery staple';
    const { body: made } = await world.platform.call<{ file: object }>('POST', '/projects/audited/exports', {
      passphrase,
    });
    return {
      importProject: () => ({ passphrase, file: made.file }),
      createJWTKey: () => ({ label: 'audited', algorithm: 'RS256', publicKeyPem: publicKey }),
      generateConnection: ({ group }) => ({
        provider: 'hubspot',
        groupRef: group,
        consumerRef: 'walker',
        oauth2AuthorizationCode: { accessToken: { token: accessToken.token } },
      }),
      patchObjectConfigContent: ({ installation }) => ({
        installationId: installation,
        action: 'write',
        changes: [{ op: 'add', path: '', value: { objectName: 'contacts' } }],
      }),
    };
  }

  it('tells in a new project who made it, and nothing of it in another project', async () => {
    const [, operatorKey] = platform.apiKey.split('_');
    const made = (await read('?action=project.created'))[0];
    expect(made).toMatchObject({
      target: { type: 'project', id: world.platform.projectId },
      actor: { kind: 'apiKey', keyId: operatorKey },
      address: '127.0.0.1',
    });
    const own = await platform.call<Page>('GET', '/projects/default/audit-log?action=project.created');
    expect(own.body.results.map(({ target }) => target.id)).not.toContain(world.platform.projectId);
  });

  it('says which end user did it', async () => {
    const headers = { authorization: `Bearer ${await world.token(world.globex.group)}` };
    const path = `/projects/audited/connections/${world.globex.connection}`;
    const change = {
      updateMask: ['providerMetadata'],
      connection: { providerMetadata: { colour: { value: 'red', source: 'input' } } },
    };
    expect((await platform.call('PATCH', path, change, { key: null, headers })).status).toBe(200);
    const entries = await read(`?targetId=${world.globex.connection}`);
    expect(entries[0]).toMatchObject({
      action: 'connection.updated',
      actor: {
        kind: 'jwt',
        keyId: world.acme.jwtKey,
        groupRef: world.globex.group,
        consumerRef: `${world.globex.group}-user`,
      },
    });
  });

  it('has an entry of every change over the management surface, found by its request', async () => {
    const order = ['POST', 'PATCH', 'PUT', 'DELETE'];
    const last = [
      'createRevision',
      'enableDestination',
      'deleteDestination',
      'deleteInstallation',
      'deleteConnection',
      'deleteProviderApp',
      'deleteIntegration',
    ];
    const keys = (await world.makeKey({ scopes: ['full'] })).key;
    const changing = operations
      .filter(
        ({ method, path, operationId }) =>
          method !== 'GET' && path.startsWith('/v1/') && !ofPeople.test(path) && !elsewhere.has(operationId),
      )
      .sort(
        (a, b) =>
          last.indexOf(a.operationId) - last.indexOf(b.operationId) ||
          order.indexOf(a.method) - order.indexOf(b.method),
      );
    expect(changing.length).toBeGreaterThan(24);
    const bodyOf = await successfulBodies();
    const wrong: unknown[] = [];
    for (const operation of changing) {
      const refs = operation.operationId === 'resolveOperation' ? world.globex : world.acme;
      const { method, path, body } = requestOf(operation, refs, bodyOf[operation.operationId]);
      const key = operation.operationId === 'createProject' ? platform.apiKey : keys;
      const answer = await platform.call(method, path, body, { key });
      const id = answer.headers.get('x-request-id');
      const found = await test.database.raw('SELECT action FROM audit_log WHERE request_id = $1', [id]);
      const isRecorded = found.length > 0 || silent.has(operation.operationId);
      if (answer.status >= 300 || !isRecorded)
        wrong.push([operation.operationId, answer.status, answer.text.slice(0, 300), found]);
    }
    expect(wrong).toEqual([]);
  }, 60_000);

  it('names the group in the entry of whatever is done to a thing of it', async () => {
    const of = `/projects/audited/connections/${world.globex.connection}?refresh=ifExpired`;
    expect((await world.platform.call('GET', of)).status).toBe(200);
    const rows = await test.database.raw(
      `SELECT action, bool_and(coalesce(group_ref, details->>'groupRef', details->'filter'->>'groupRef') IS NOT NULL) AS named
       FROM audit_log WHERE project_id = $1 AND target_id <> $1::text
         AND target_type IN ('connection', 'connectLink', 'delivery', 'installation', 'operation') GROUP BY 1`,
      [world.platform.projectId],
    );
    const done = [
      'connectLink.created',
      'connectLink.deleted',
      'connection.refreshed',
      'delivery.retried',
      'operation.resolved',
      'operation.retried',
    ];
    expect(rows.map(({ action }) => action)).toEqual(expect.arrayContaining(done));
    expect(rows.filter(({ named }) => named !== true)).toEqual([]);
  });

  it('has an entry of each disclosure of a credential, and of the refusal none', async () => {
    const path = `/projects/audited/connections/${world.globex.connection}`;
    const before = (await read('?action=connection.disclosed')).length;
    const shown = await world.platform.call('GET', `${path}?includeCreds=true`);
    expect(shown.status).toBe(200);
    expect(shown.headers.get('cache-control')).toBe('no-store');
    const reading = (await world.makeKey({ scopes: ['read'] })).key;
    expect(
      (await platform.call('GET', `${path}?includeCreds=true`, undefined, { key: reading })).status,
    ).toBe(403);
    const entries = await read('?action=connection.disclosed');
    expect(entries).toHaveLength(before + 1);
    expect(entries[0]).toMatchObject({
      target: { type: 'connection', id: world.globex.connection },
      requestId: shown.headers.get('x-request-id'),
    });
  });

  it('holds no secret', async () => {
    const all = JSON.stringify(await test.database.raw('SELECT * FROM audit_log'));
    expect(all).toContain('apiKey.created');
    expect(all).not.toMatch(/svc_[0-9a-f]{16}_/);
    for (const secret of ['clientSecret', 'client-secret', 'accessToken', 'BEGIN PUBLIC KEY'])
      expect(all).not.toContain(secret);
  });

  it('finds by its id what was done to a thing, however its id was typed', async () => {
    const { body } = await world.platform.call<{ id: string }>('POST', '/projects/audited/topics', {
      name: 'typed',
    });
    const typed = body.id.toUpperCase();
    expect((await world.platform.call('DELETE', `/projects/audited/topics/${typed}`)).status).toBe(204);
    for (const id of [body.id, typed])
      expect((await read(`?targetId=${id}`)).map(({ action }) => action)).toEqual([
        'topic.deleted',
        'topic.created',
      ]);
  });

  it('is read page by page, filtered, by full keys of the project only', async () => {
    // Up to now only: the service adds entries by itself meanwhile.
    const until = `to=${new Date().toISOString()}`;
    const all = await read(`?pageSize=1000&${until}`);
    const paged: Entry[] = [];
    let token = '';
    do {
      const page = await world.platform.call<Page>('GET', `${log}?pageSize=5&${until}${token}`);
      paged.push(...page.body.results);
      token = page.body.pagination.done ? '' : `&pageToken=${page.body.pagination.nextPageToken}`;
    } while (token !== '');
    expect(paged).toEqual(all);
    const [newest, second] = all;
    expect(await read(`?from=${newest?.time}&pageSize=1000&${until}`)).toEqual([newest]);
    expect((await read(`?to=${second?.time}`))[0]?.id).not.toBe(newest?.id);
    for (const time of ['1960-01-01T00:00:00Z', '0001-01-01T00:00:00Z']) {
      expect(await read(`?from=${time}&pageSize=1000&${until}`)).toEqual(all);
      expect(await read(`?to=${time}`)).toEqual([]);
    }
    const byKey = all.find(({ actor }) => actor.keyId !== undefined);
    expect((await read(`?keyId=${byKey?.actor.keyId}`)).map(({ id }) => id)).toContain(byKey?.id);
    const { key } = await world.makeKey({ scopes: ['read'] });
    expect((await platform.call('GET', log, undefined, { key })).status).toBe(403);
    expect((await platform.call('GET', log)).status).toBe(404);
  });

  it('tells of a group what was done by it and to it, and nothing of another', async () => {
    for (const groupRef of ['dön"e', 'dön']) {
      const asked = await world.platform.call('POST', '/projects/audited/erasures', { groupRef });
      expect(asked.status).toBe(202);
    }
    await test.database.raw(
      `INSERT INTO audit_log (project_id, id, action, target_type, target_id, actor_kind, group_ref, details)
       SELECT $1, id, 'connection.refused', 'connection', 'x', 'jwt', who, '{"said":"\\u0000 \\"groupRef\\":\\"dön\\""}'
       FROM unnest($2::uuid[], ARRAY['dön', 'other']) AS of (id, who)`,
      [world.platform.projectId, [newId(), newId()]],
    );
    const found = await read(`?groupRef=dön&action=erasure.started`);
    expect(found).toMatchObject([{ actor: { kind: 'apiKey' }, details: { groupRef: 'dön' } }]);
    expect(await read(`?groupRef=${encodeURIComponent('dön"e')}&action=erasure.started`)).toHaveLength(1);
    const did = await read('?groupRef=dön&action=connection.refused');
    expect(did).toMatchObject([{ actor: { groupRef: 'dön' } }]);
  });

  it('is exported whole or for a time, as JSON or as CSV in which a spreadsheet finds no formula', async () => {
    const hostile = '=HYPERLINK("https://evil.example?x,y")\nnext';
    const ids = Array.from({ length: 1_200 }, () => newId());
    const { projectId } = world.platform;
    await test.database.raw(
      `INSERT INTO audit_log (project_id, id, action, target_type, target_id, actor_kind, group_ref, details)
       SELECT $1, id, 'topic.created', 'topic', '  @sum', 'jwt', $3, '{"a": "=1"}' FROM unnest($2::uuid[]) AS id`,
      [projectId, ids, hostile],
    );
    const exported = (query: string, options: CallOptions = {}) =>
      world.platform.call<string>('GET', `${log}:export${query}`, undefined, options);
    const json = await exported('');
    expect(json.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    const lines = json.text.trimEnd().split('\n');
    const entries = lines.map((line) => JSON.parse(line) as Entry);
    const newest = await read('?pageSize=1000');
    expect(entries.slice(0, 1000)).toEqual(newest);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
    expect(entries.filter(({ actor }) => actor.groupRef === hostile)).toHaveLength(1_200);
    // The project itself was made first.
    expect(entries.at(-1)?.action).toBe('project.created');
    const before = new Date(Date.parse(entries.at(-1)?.time ?? '') - 60_000).toISOString();
    expect((await exported(`?to=${before}`)).text).toBe('');

    const csv = await exported(`?format=csv&from=${before}`);
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="audit-log.csv"');
    const [head, ...rows] = csv.text.split('\r\n');
    expect(head).toMatch(/^id,time,action,targetType,targetId,actorKind,.*,details$/);
    expect(rows[0]).toBe(
      `"${entries[0]?.id}","${entries[0]?.time}","topic.created","topic","'  @sum","jwt","","'=HYPERLINK(""https://evil.example?x,y"")\nnext","","","","","","{""a"":""=1""}"`,
    );
    expect(rows).toHaveLength(entries.length + 1);
    expect((await exported('?format=xls')).status).toBe(400);
    const { key } = await world.makeKey({ scopes: ['view'] });
    const listed = await world.platform.call('GET', log, undefined, { key });
    expect((await exported('', { key })).status).toBe(listed.status);
  });

  /** Answered, and then lost: its transaction fails when it is committed, after all else of it was done. */
  async function failAtCommit(
    table: string,
    change: () => Promise<Answer<unknown>>,
  ): Promise<Answer<unknown>> {
    const before = await test.database.raw(`SELECT * FROM ${table} ORDER BY id`);
    await test.database.raw(`CREATE FUNCTION never_kept() RETURNS trigger LANGUAGE plpgsql
        AS 'BEGIN RAISE EXCEPTION ''never kept''; END';
      CREATE CONSTRAINT TRIGGER never_kept AFTER INSERT OR UPDATE OR DELETE ON ${table}
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION never_kept()`);
    try {
      const answer = await change();
      expect([table, answer.status, answer.text]).toEqual([
        table,
        500,
        expect.stringContaining('"code":"internal"'),
      ]);
      expect(await test.database.raw(`SELECT * FROM ${table} ORDER BY id`)).toEqual(before);
      return answer;
    } finally {
      await test.database.raw(`DROP TRIGGER never_kept ON ${table}; DROP FUNCTION never_kept()`);
    }
  }

  it('a change that fails leaves no entry', async () => {
    const base = '/projects/audited';
    const call = (method: string, path: string, body?: unknown) =>
      world.platform.call<{ id: string }>(method, `${base}${path}`, body);
    const taken = await call('POST', '/topics', { name: 'taken' });
    const other = await call('POST', '/topics', { name: 'other' });
    const missing = '0190a5d4-7d3c-7a2b-8c1d-2e3f4a5b6c7d';
    const refused: [status: number, method: string, path: string, body?: unknown][] = [
      ...['api-keys', 'jwt-keys', 'provider-apps', 'integrations', 'connections', 'topics'].map(
        (path): [number, string, string] => [404, 'DELETE', `/${path}/${missing}`],
      ),
      [409, 'POST', '/topics', { name: 'Taken' }],
      [409, 'PATCH', `/topics/${other.body.id}`, { name: 'taken' }],
      [409, 'PATCH', '', { updateMask: ['name'], project: { name: 'default' } }],
    ];
    const failed: (string | null)[] = [];
    for (const [status, method, path, body] of refused) {
      const answer = await call(method, path, body);
      expect([method, path, answer.status]).toEqual([method, path, status]);
      failed.push(answer.headers.get('x-request-id'));
    }

    const metadata = { url: 'https://app.example.com/hooks' };
    const lost: [table: string, method: string, path: string, body?: unknown][] = [
      ['topic', 'POST', '/topics', { name: 'lost' }],
      ['topic', 'DELETE', `/topics/${taken.body.id}`],
      ['api_key', 'POST', '/api-keys', { label: 'lost', scopes: ['read'] }],
      ['destination', 'POST', '/destinations', { name: 'lost', type: 'webhook', metadata }],
      ['invitation', 'POST', '/invitations', { email: 'lost@example.com', role: 'viewer' }],
      ['project', 'PATCH', '', { updateMask: ['appName'], project: { appName: 'lost' } }],
    ];
    for (const [table, method, path, body] of lost) {
      const answer = await failAtCommit(table, () => call(method, path, body));
      failed.push(answer.headers.get('x-request-id'));
    }
    expect(new Set(failed).size).toBe(refused.length + lost.length);
    // By the request: the service adds entries by itself meanwhile.
    const entries = 'SELECT action, target_id FROM audit_log WHERE request_id = ANY($1)';
    expect(await test.database.raw(entries, [failed])).toEqual([]);
  });

  it('keeps whole months, and has a year of them ahead', async () => {
    const months = async () =>
      (
        await test.database.raw(
          "SELECT relid::regclass::text AS name FROM pg_partition_tree('audit_log') WHERE isleaf ORDER BY 1",
        )
      ).map(({ name }) => name);
    expect((await months()).length).toBe(13);
    await test.database.raw(`CREATE TABLE audit_log_202001 (LIKE audit_log INCLUDING ALL);
      ALTER TABLE audit_log ATTACH PARTITION audit_log_202001
        FOR VALUES FROM (svc_uuid_floor('2020-01-01Z')) TO (svc_uuid_floor('2020-02-01Z'))`);
    await keepPartitions(test.database, auditPartitions);
    expect(await months()).toContain('audit_log_202001');
    await keepPartitions(test.database, auditPartitions, 400);
    expect((await months()).length).toBe(13);
  });
});
