import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { statement } from '../../kit/db/statement.ts';
import { openHarness, type Harness } from '../harness.fixture.ts';

const base = '/projects/default/integrations';
const batch = `${base}:batch`;
const yaml = (name: string, lines = '    proxy: { enabled: true }\n', provider = 'hubspot'): string =>
  `specVersion: 1.0.0\nintegrations:\n  - name: ${name}\n    provider: ${provider}\n${lines}`;
const writes = '    write: { objects: [{ objectName: contacts }] }\n    proxy: { enabled: true }\n';

describe('src/projects/integrations/routes', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
  });
  beforeEach(async () => {
    await harness.database.raw('DELETE FROM revision');
    await harness.database.raw('DELETE FROM integration');
  });
  afterAll(() => harness.close());

  const deploy = async (sourceYaml: string, query = '') =>
    harness.call('PUT', `${batch}${query}`, { sourceYaml });
  const revisions = async (): Promise<number> =>
    (await harness.database.raw('SELECT count(*)::int AS count FROM revision'))[0]!['count'] as number;

  it('deploys a manifest and answers the integrations with their revisions', async () => {
    const { status, headers, body } = await deploy(yaml('crmSync', writes));
    expect(status).toBe(200);
    expect(headers['x-svc-warnings']).toBe('0');
    const integration = {
      id: expect.any(String),
      projectId: harness.projectId,
      name: 'crmSync',
      provider: 'hubspot',
      createTime: expect.any(String),
      updateTime: expect.any(String),
      latestRevision: {
        id: expect.any(String),
        specVersion: '1.0.0',
        createTime: expect.any(String),
        content: {
          name: 'crmSync',
          provider: 'hubspot',
          write: { objects: [{ objectName: 'contacts' }] },
          proxy: { enabled: true },
        },
      },
    };
    expect(body).toEqual([integration]);
    expect((await harness.call('GET', base)).body).toEqual([integration]);
    expect((await harness.call('GET', `${base}/crmSync`)).body).toEqual(integration);
    expect((await harness.call('GET', `${base}/${body[0].id}`)).body).toEqual(integration);
    expect((await harness.call('GET', `${base}/crmsync`)).status).toBe(404);
  });

  it('makes a revision only for what changed, and keeps the id', async () => {
    const first = (await deploy(yaml('mine'))).body[0];
    const same = (await deploy(`# a comment\n${yaml('mine')}`)).body[0];
    expect(same.latestRevision.id).toBe(first.latestRevision.id);
    const next = (await deploy(yaml('mine', writes), '?destructive=true')).body[0];
    expect(next.id).toBe(first.id);
    expect(next.latestRevision.id).not.toBe(first.latestRevision.id);
    expect(await revisions()).toBe(2);
    const kept = await harness.database.raw('SELECT destructive FROM revision ORDER BY id');
    expect(kept).toEqual([{ destructive: false }, { destructive: true }]);
  });

  it('lists the revisions of an integration, the newest first and page by page', async () => {
    await deploy(yaml('mine'));
    await deploy(yaml('other'));
    const { id, latestRevision } = (await deploy(yaml('mine', writes))).body[0];
    const list = async (query: string, of = 'mine') =>
      (await harness.call('GET', `${base}/${of}/revisions${query}`)).body;
    const first = await list('?pageSize=1');
    expect(first).toEqual({
      results: [latestRevision],
      pagination: { done: false, nextPageToken: expect.any(String) },
    });
    const rest = await list(`?pageSize=1&pageToken=${first.pagination.nextPageToken}`);
    expect(rest.results).toMatchObject([{ content: { name: 'mine', proxy: { enabled: true } } }]);
    expect(rest.results[0].content).not.toHaveProperty('write');
    expect(rest.pagination).toEqual({ done: true });
    expect((await list('', id)).results).toEqual([...first.results, ...rest.results]);
    expect((await harness.call('GET', `${base}/unknown/revisions`)).status).toBe(404);
    expect((await list('?pageToken=no')).issues).toMatchObject([{ name: 'pageToken' }]);
  });

  it('leaves integrations alone that the manifest does not name', async () => {
    await deploy(yaml('first'));
    expect((await deploy(yaml('second'))).body).toHaveLength(1);
    expect((await harness.call('GET', base)).body.map(({ name }: { name: string }) => name)).toEqual([
      'first',
      'second',
    ]);
  });

  it('answers a dry run with what would change, and writes nothing', async () => {
    await deploy(yaml('mine', writes));
    await deploy(yaml('other'));
    const text = yaml(
      'mine',
      "    read: { objects: [{ objectName: contacts, destination: d, schedule: '*/10 * * * *' }] }\n",
    );
    const { status, body } = await deploy(text, '?dryRun=true');
    expect(status).toBe(200);
    expect(body).toEqual({
      dryRun: true,
      integrations: [
        {
          name: 'mine',
          provider: 'hubspot',
          change: 'updated',
          added: ['read.contacts'],
          changed: [],
          removed: ['write.contacts', 'proxy'],
          installations: 0,
          impacts: [],
        },
      ],
      untouched: ['other'],
      warnings: [
        {
          severity: 'warning',
          rule: 'schedule-frequent',
          path: 'integrations[0].read.objects[0].schedule',
          message: expect.any(String),
          line: 5,
          column: 63,
        },
      ],
    });
    expect(await revisions()).toBe(2);
  });

  it('refuses a manifest with the line and column of each error, and deploys nothing of it', async () => {
    const text = `${yaml('good')}  - name: bad\n    provider: hubspott\n    prox: { enabled: true }\n`;
    const { status, body } = await deploy(text);
    expect([status, body.code]).toEqual([422, 'manifest-invalid']);
    expect(body.issues).toEqual([
      {
        in: 'body',
        name: 'integrations[1]',
        detail: expect.stringContaining('at least one'),
        line: 6,
        column: 5,
        rule: 'no-action',
      },
      {
        in: 'body',
        name: 'integrations[1].provider',
        detail: 'there is no provider hubspott. Did you mean hubspot?',
        line: 7,
        column: 5,
        rule: 'provider-unknown',
      },
      {
        in: 'body',
        name: 'integrations[1].prox',
        detail: 'is not a known key. Did you mean proxy?',
        line: 8,
        column: 5,
        rule: 'unknown-key',
      },
    ]);
    expect((await harness.call('GET', base)).body).toEqual([]);
  });

  it('says which type a manifest has that was sent as JSON, and that one that is empty was sent empty', async () => {
    const put = (text: string, type: string) =>
      harness.call('PUT', batch, text, { headers: { 'content-type': type } });
    expect(await put(yaml('mine'), 'application/json')).toMatchObject({
      status: 400,
      body: { code: 'malformed-json', remedy: expect.stringContaining('`Content-Type: application/yaml`') },
    });
    expect(await put('', 'application/yaml')).toMatchObject({
      status: 422,
      body: {
        code: 'manifest-invalid',
        detail: expect.stringMatching(/^line 1, column 1: .* empty.*--data-binary/),
      },
    });
    const slip = await put(yaml('mine').replace('provider: ', 'provider:'), 'application/yaml');
    expect(slip.body.detail).toContain('Write provider: hubspot');
  });

  it('refuses another provider under a live name', async () => {
    await deploy(yaml('mine'));
    for (const query of ['', '?dryRun=true']) {
      const { status, body } = await deploy(yaml('mine', undefined, 'salesforce'), query);
      expect(status).toBe(422);
      expect(body.issues).toMatchObject([
        { rule: 'provider-changed', name: 'integrations[0].provider', line: 4 },
      ]);
    }
    expect((await harness.call('GET', `${base}/mine`)).body.provider).toBe('hubspot');
  });

  it('makes one integration and one revision when the same manifest is deployed many times at once', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => deploy(yaml('mine'))));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ body }) => body[0].latestRevision.id)).size).toBe(1);
    expect(await revisions()).toBe(1);
  });

  it.each([
    {},
    { sourceYaml: 'a', sourceZipUrl: 'https://x.test' },
    { sourceZipUrl: 'https://x.test/a.zip' },
    { sourceYaml: 1 },
    { yaml: '' },
  ])('refuses the body %j', async (body) => {
    expect((await harness.call('PUT', batch, body)).status).toBe(400);
  });

  it('counts the warnings of a deploy', async () => {
    const lines =
      '    read: { objects: [{ objectName: contacts }] }\n    watchSchema: { destination: d, allObjects: { fieldCreated: { enabled: always } } }\n';
    const { status, headers } = await deploy(yaml('mine', lines));
    expect([status, headers['x-svc-warnings']]).toEqual([200, '2']);
  });

  it('makes one integration from JSON', async () => {
    const content = {
      name: 'byJson',
      provider: 'salesforce',
      write: { objects: [{ objectName: 'Contact' }] },
    };
    const given = {
      name: 'byJson',
      provider: 'salesforce',
      latestRevision: { specVersion: '1.0.0', content },
    };
    const created = await harness.call('POST', base, given);
    expect([created.status, created.body]).toEqual([201, undefined]);
    expect((await harness.call('GET', `${base}/byJson`)).body.latestRevision.content).toEqual(content);
    expect((await harness.call('POST', base, given)).status).toBe(409);
    expect((await harness.call('POST', base, { ...given, name: 'another' })).body.issues[0].name).toBe(
      'name',
    );
    const unknown = {
      ...given,
      latestRevision: { specVersion: '1.0.0', content: { ...content, colour: 1 } },
    };
    expect((await harness.call('POST', base, unknown)).status).toBe(400);
    const noAction = { name: 'x', provider: 'salesforce' };
    const { status, body } = await harness.call('POST', base, {
      ...noAction,
      latestRevision: { specVersion: '1.0.0', content: noAction },
    });
    expect([status, body.issues]).toEqual([
      422,
      [{ in: 'body', name: 'latestRevision.content', detail: expect.any(String), rule: 'no-action' }],
    ]);
  });

  it('revises one integration of a manifest', async () => {
    const { id } = (await deploy(yaml('mine'))).body[0];
    const text = `${yaml('mine', writes)}  - name: other\n    provider: hubspot\n    proxy: { enabled: true }\n`;
    const { status, body } = await harness.call('POST', `${base}/${id}/revisions`, { sourceYaml: text });
    expect([status, body]).toEqual([201, undefined]);
    expect((await harness.call('GET', base)).body).toMatchObject([
      { name: 'mine', latestRevision: { content: { write: {} } } },
    ]);
    const absent = await harness.call('POST', `${base}/mine/revisions`, { sourceYaml: yaml('other') });
    expect([absent.status, absent.body.code]).toEqual([422, 'manifest-invalid']);
    expect(
      (await harness.call('POST', `${base}/nothing/revisions`, { sourceYaml: yaml('nothing') })).status,
    ).toBe(404);
  });

  it('deletes an integration together with what higher rooms registered, or not at all', async () => {
    const { id } = (await deploy(yaml('mine'))).body[0];
    const deleteInstallations = statement(
      'test_delete_installations',
      'DELETE FROM installation WHERE integration_id = $1',
    );
    let fails = true;
    harness.projects.beforeIntegrationDelete(async (tx, projectId, integrationId) => {
      expect([projectId, integrationId]).toEqual([harness.projectId, id]);
      await tx.rows(deleteInstallations, [integrationId]);
      if (fails) throw new Error('not now');
    });
    await harness.database.raw(
      `INSERT INTO installation (project_id, id, integration_id, group_ref, connection_id, config_id, created_by)
       VALUES ($1, $2, $2, 'g', $2, $2, 'api:test')`,
      [harness.projectId, id],
    );
    expect((await harness.call('DELETE', `${base}/mine`)).status).toBe(500);
    expect(await harness.database.raw('SELECT id FROM installation')).toHaveLength(1);
    fails = false;
    expect((await harness.call('DELETE', `${base}/mine`)).status).toBe(204);
    expect(await harness.database.raw('SELECT id FROM installation')).toEqual([]);
    expect(await revisions()).toBe(0);
    expect((await harness.call('GET', `${base}/mine`)).status).toBe(404);
  });

  it('shows integrations to front ends, and lets only full keys change them', async () => {
    await deploy(yaml('mine'));
    const { key } = (
      await harness.call('POST', '/projects/default/api-keys', {
        label: 'x',
        scopes: ['frontend'],
        groupRef: 'g',
      })
    ).body;
    expect((await harness.call('GET', `${base}/mine`, undefined, { key })).status).toBe(200);
    expect((await harness.call('PUT', batch, { sourceYaml: yaml('mine') }, { key })).status).toBe(403);
    expect((await harness.call('DELETE', `${base}/mine`, undefined, { key })).status).toBe(403);
  });
});
