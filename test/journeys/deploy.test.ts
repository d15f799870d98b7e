import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Answer, type Platform } from '../platform.ts';

interface Revision {
  id: string;
  specVersion: string;
  createTime: string;
  content: Record<string, unknown>;
}
interface Integration {
  id: string;
  projectId: string;
  name: string;
  provider: string;
  latestRevision: Revision;
}
interface Preview {
  dryRun: true;
  integrations: { name: string; change: string; added: string[]; changed: string[]; removed: string[] }[];
  untouched: string[];
  warnings: { rule: string; line: number; column: number; message: string }[];
}

describe('test/journeys/deploy', () => {
  let test: TestDatabase;
  let platform: Platform;
  let count = 0;
  let name = '';

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
  });
  beforeEach(() => {
    count += 1;
    name = `crm-${count}`;
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const batch = <Body = Integration[]>(sourceYaml: string, query = ''): Promise<Answer<Body>> =>
    platform.call('PUT', `/projects/${platform.projectId}/integrations:batch${query}`, { sourceYaml });
  const list = async (): Promise<Integration[]> =>
    (await platform.call<Integration[]>('GET', `/projects/${platform.projectId}/integrations`)).body;
  const head = () => `specVersion: 1.0.0\nintegrations:\n  - name: ${name}\n    provider: hubspot\n`;
  const writes = (...objects: string[]) =>
    `    write:\n      objects:\n${objects.map((object) => `        - objectName: ${object}\n`).join('')}`;

  it('warns of a destination that is not there, at its line, until there is one', async () => {
    const read = (named: string) => `specVersion: 1.0.0
integrations:
  - name: ${named}
    provider: hubspot
    read:
      objects:
        - { objectName: contacts, destination: updates, requiredFields: [{ fieldName: email }] }
`;
    const warningsOf = async (named: string) => {
      const { body } = await batch(read(named));
      return (body as unknown as { warnings?: { rule: string; line: number; message: string }[] }[])[0]
        ?.warnings;
    };
    expect(await warningsOf('waits')).toMatchObject([
      {
        rule: 'destination-unknown',
        line: 7,
        message: expect.stringContaining('there is no destination updates'),
      },
    ]);
    const metadata = { url: 'https://updates.example/in' };
    const made = await platform.call('POST', '/projects/default/destinations', {
      name: 'updates',
      type: 'webhook',
      metadata,
    });
    expect(made.status).toBe(201);
    expect(await warningsOf('goes')).toBeUndefined();
  });

  it('§2.1 a manifest with every key of the specification is deployed and answers its integrations with their revision', async () => {
    const deployed = await batch(`specVersion: 1.0.0
integrations:
  - name: ${name}
    displayName: The CRM
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          destination: updates
          requiredFields: [{ fieldName: email }]
    write:
      objects:
        - objectName: contacts
          inheritMapping: true
        - objectName: companies
    proxy:
      enabled: true
`);
    expect(deployed.status).toBe(200);
    expect(deployed.body).toMatchObject([
      {
        projectId: platform.projectId,
        name,
        provider: 'hubspot',
        latestRevision: {
          specVersion: '1.0.0',
          content: {
            name,
            displayName: 'The CRM',
            provider: 'hubspot',
            write: {
              objects: [{ objectName: 'contacts', inheritMapping: true }, { objectName: 'companies' }],
            },
            proxy: { enabled: true },
          },
        },
      },
    ]);
    const one = await platform.call<Integration>('GET', `/projects/default/integrations/${name}`);
    expect(one.body).toEqual(deployed.body[0]);
    const byId = await platform.call<Integration>('GET', `/projects/default/integrations/${one.body.id}`);
    expect(byId.body).toEqual(one.body);
  });

  it('a dry run says what would change and changes nothing', async () => {
    const before = await list();
    const dry = await batch<Preview>(head() + writes('contacts'), '?dryRun=true');
    expect(dry.status).toBe(200);
    expect(dry.body).toMatchObject({
      dryRun: true,
      integrations: [{ name, change: 'created', added: ['write.contacts'] }],
      untouched: before.map((integration) => integration.name),
    });
    expect(await list()).toEqual(before);
    await batch(head() + writes('contacts', 'companies'));
    const second = await batch<Preview>(
      head() + writes('contacts', 'deals') + '    proxy: { enabled: true }\n',
      '?dryRun=true',
    );
    expect(second.body.integrations).toMatchObject([
      { change: 'updated', added: ['write.deals', 'proxy'], removed: ['write.companies'] },
    ]);
    const refused = await batch<ProblemBody>(
      head() + writes('contacts').replace('objectName', 'objectNam'),
      '?dryRun=true',
    );
    expect(refused).toMatchObject({ status: 422, body: { code: 'manifest-invalid' } });
  });

  it('a change makes a second revision; the same manifest again makes none; other integrations stay', async () => {
    const first = (await batch(head() + writes('contacts'))).body[0]!;
    const others = (await list()).filter((integration) => integration.name !== name);
    const same = (await batch(head() + writes('contacts'))).body[0]!;
    expect(same.latestRevision.id).toBe(first.latestRevision.id);
    const second = (await batch(head() + writes('contacts', 'companies'))).body[0]!;
    expect(second.id).toBe(first.id);
    expect(second.latestRevision.id).not.toBe(first.latestRevision.id);
    expect((await list()).filter((integration) => integration.name !== name)).toEqual(others);
  });

  it('one integration of a manifest can be revised alone', async () => {
    await batch(head() + writes('contacts'));
    const path = `/projects/default/integrations/${name}/revisions`;
    const made = await platform.call('POST', path, { sourceYaml: head() + writes('companies') });
    expect(made).toMatchObject({ status: 201, text: '' });
    const after = await platform.call<Integration>('GET', `/projects/default/integrations/${name}`);
    expect(after.body.latestRevision.content['write']).toEqual({ objects: [{ objectName: 'companies' }] });
    const missing = await platform.call<ProblemBody>('POST', path, {
      sourceYaml: head().replace(name, 'another') + writes('companies'),
    });
    expect(missing).toMatchObject({ status: 422, body: { code: 'manifest-invalid' } });
  });

  it('the destructive flag is accepted, and must be a boolean', async () => {
    await batch(head() + writes('contacts', 'companies'));
    const deployed = await batch(head() + writes('contacts'), '?destructive=true');
    expect(deployed.status).toBe(200);
    const refused = await batch<ProblemBody>(head() + writes('contacts'), '?destructive=perhaps');
    expect(refused).toMatchObject({ status: 400, body: { issues: [{ in: 'query', name: 'destructive' }] } });
  });

  it('a manifest needs its source, and only one', async () => {
    const path = `/projects/default/integrations:batch`;
    const none = await platform.call<ProblemBody>('PUT', path, {});
    expect(none.status).toBe(400);
    const zip = await platform.call<ProblemBody>('PUT', path, { sourceZipUrl: 'https://example.com/a.zip' });
    expect(zip.status).toBe(400);
    expect(zip.body.remedy).toMatch(/sourceYaml/);
    const unknown = await platform.call<ProblemBody>('PUT', path, { sourceYml: 'x' });
    expect(unknown).toMatchObject({ status: 400, body: { issues: [{ name: 'sourceYml' }] } });
  });

  it('the text of a manifest is taken as it is', async () => {
    const path = `/projects/default/integrations:batch`;
    const yaml = { headers: { 'content-type': 'application/yaml; charset=utf-8' } };
    const text = head() + writes('contacts');
    const deployed = await platform.call<Integration[]>('PUT', path, text, yaml);
    expect(deployed).toMatchObject({ status: 200, body: [{ name, provider: 'hubspot' }] });
    const revised = await platform.call(
      'POST',
      `/projects/default/integrations/${name}/revisions`,
      head() + writes('companies'),
      yaml,
    );
    expect(revised).toMatchObject({ status: 201 });
    const after = await platform.call<Integration>('GET', `/projects/default/integrations/${name}`);
    expect(after.body.latestRevision.content['write']).toEqual({ objects: [{ objectName: 'companies' }] });
    const huge = await platform.call<ProblemBody>('PUT', path, `a: ${'x'.repeat(3 * 1024 * 1024)}`, yaml);
    expect(huge).toMatchObject({ status: 413, body: { code: 'body-too-large' } });
    const many = await platform.call<ProblemBody>('PUT', path, `a: [${'[],'.repeat(60_000)}]`, yaml);
    expect(many).toMatchObject({ status: 422, body: { code: 'manifest-invalid' } });
    const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' } };
    const refused = await platform.call<ProblemBody>('PUT', path, text, form);
    expect(refused.status).toBe(415);
    expect(refused.body.remedy).toMatch(/JSON document.*application\/yaml/);
    const elsewhere = await platform.call<ProblemBody>('POST', '/projects', text, yaml);
    expect(elsewhere.status).toBe(415);
  });

  it('names the line of a fault in the text of the problem', async () => {
    const refused = await batch<ProblemBody>(
      `specVersion: 1.0.0\nintegrations:\n  - name: ${name}\n   provider: hubspot\n`,
    );
    expect(refused).toMatchObject({ status: 422, body: { code: 'manifest-invalid' } });
    expect(refused.body.detail).toMatch(/^line 4, column \d+: /);
    const other = await batch<ProblemBody>(head().replace('hubspot', 'hubspott') + writes('contacts'));
    expect(other.body.detail).toMatch(/^integrations\[0\]\.provider \(line 4, column 5\): /);
  });

  const refusals: [
    string,
    (name: string) => string,
    { line: number; column: number; name: string },
    RegExp?,
  ][] = [
    ['refuses text that is no YAML', () => 'integrations: [', { line: 1, column: 16, name: '' }],
    [
      'refuses an unknown key, with the one that was meant',
      (own) =>
        `specVersion: 1.0.0\nintegrations:\n  - name: ${own}\n    provder: hubspot\n    proxy: { enabled: true }\n`,
      { line: 4, column: 5, name: 'integrations[0].provder' },
      /provider/,
    ],
    [
      'refuses a nested key with a typo',
      (own) =>
        `specVersion: 1.0.0\nintegrations:\n  - name: ${own}\n    provider: hubspot\n    write:\n      objects:\n        - objectNam: contacts\n`,
      { line: 7, column: 11, name: 'integrations[0].write.objects[0].objectNam' },
      /objectName/,
    ],
    [
      '§2.1, §9 refuses another specVersion',
      (own) =>
        `specVersion: 2.0.0\nintegrations:\n  - name: ${own}\n    provider: hubspot\n    proxy: { enabled: true }\n`,
      { line: 1, column: 1, name: 'specVersion' },
      /1\.0\.0/,
    ],
    [
      '§2.1 refuses a list without integrations',
      () => 'specVersion: 1.0.0\nintegrations: []\n',
      { line: 2, column: 1, name: 'integrations' },
    ],
    [
      '§2.1 refuses a provider that is not in the catalogue, with the one that was meant',
      (own) =>
        `specVersion: 1.0.0\nintegrations:\n  - name: ${own}\n    provider: hubspott\n    proxy: { enabled: true }\n`,
      { line: 4, column: 5, name: 'integrations[0].provider' },
      /hubspot/,
    ],
    [
      '§2.1 refuses an integration without a name',
      () => 'specVersion: 1.0.0\nintegrations:\n  - provider: hubspot\n    proxy: { enabled: true }\n',
      { line: 3, column: 5, name: 'integrations[0].name' },
    ],
    [
      '§2.1 refuses a displayName that is no text',
      (own) =>
        `specVersion: 1.0.0\nintegrations:\n  - name: ${own}\n    displayName: 12\n    provider: hubspot\n    proxy: { enabled: true }\n`,
      { line: 4, column: 5, name: 'integrations[0].displayName' },
    ],
    [
      'refuses an integration without an action',
      (own) => `specVersion: 1.0.0\nintegrations:\n  - name: ${own}\n    provider: hubspot\n`,
      { line: 3, column: 5, name: 'integrations[0]' },
    ],
    [
      '§2.1 refuses an object that stands twice',
      (own) =>
        `specVersion: 1.0.0\nintegrations:\n  - name: ${own}\n    provider: hubspot\n    write:\n      objects:\n        - objectName: contacts\n        - objectName: contacts\n`,
      { line: 8, column: 11, name: 'integrations[0].write.objects[1].objectName' },
    ],
    [
      '§2.1 refuses an inheritMapping that is no boolean',
      (own) =>
        `specVersion: 1.0.0\nintegrations:\n  - name: ${own}\n    provider: hubspot\n    write:\n      objects:\n        - objectName: contacts\n          inheritMapping: "yes"\n`,
      { line: 8, column: 11, name: 'integrations[0].write.objects[0].inheritMapping' },
    ],
    [
      '§2.1 refuses a proxy without enabled',
      (own) => `specVersion: 1.0.0\nintegrations:\n  - name: ${own}\n    provider: hubspot\n    proxy: {}\n`,
      { line: 5, column: 5, name: 'integrations[0].proxy.enabled' },
    ],
  ];
  it.each(refusals)('%s, naming line and column', async (_title, manifestFor, expected, says = /./) => {
    const before = await list();
    const refused = await batch<ProblemBody>(manifestFor(name));
    expect(refused).toMatchObject({ status: 422, body: { code: 'manifest-invalid' } });
    const found = refused.body.issues?.find((issue) => issue.name === expected.name);
    expect(found).toMatchObject({
      in: 'body',
      line: expected.line,
      column: expected.column,
    });
    expect(found?.detail).toMatch(says);
    expect(await list()).toEqual(before);
  });

  it('finds every error at once, in the order of the lines', async () => {
    const refused = await batch<ProblemBody>(
      `specVersion: 1.0.0\nintegrations:\n  - name: ${name}\n    provider: nobody\n    read:\n      objects:\n        - objectName: contacts\n          schedule: "* * * * *"\n    write:\n      objects: []\n`,
    );
    const lines = refused.body.issues?.map((issue) => issue.line) ?? [];
    expect(lines).toEqual([...lines].sort((a, b) => a! - b!));
    expect(new Set(refused.body.issues?.map((issue) => issue.name))).toEqual(
      new Set([
        'integrations[0].provider',
        'integrations[0].read.objects[0].destination',
        'integrations[0].read.objects[0].schedule',
        'integrations[0].write.objects',
      ]),
    );
  });

  it('later capabilities are accepted with a warning', async () => {
    const manifest = `${head()}    read:
      objects:
        - objectName: contacts
          destination: updates
          requiredFields: [{ fieldName: email }]
    subscribe:
      objects:
        - objectName: contacts
          destination: updates
          inheritFieldsAndMapping: true
          createEvent: { enabled: always }
`;
    const dry = await batch<Preview>(manifest, '?dryRun=true');
    expect(dry.body.warnings).toContainEqual(expect.objectContaining({ rule: 'not-active-yet', line: 10 }));
    const deployed = await batch(manifest);
    expect(deployed.status).toBe(200);
    expect(Number(deployed.headers.get('x-svc-warnings'))).toBeGreaterThan(0);
  });

  it('an integration keeps its provider, and goes with all it has when it is deleted', async () => {
    await batch(head() + writes('contacts'));
    const changed = await batch<ProblemBody>((head() + writes('contacts')).replace('hubspot', 'salesforce'));
    expect(changed).toMatchObject({
      status: 422,
      body: { issues: [{ name: 'integrations[0].provider', line: 4 }] },
    });
    const path = `/projects/default/integrations/${name}`;
    expect((await platform.call('DELETE', path)).status).toBe(204);
    expect(await platform.call('GET', path)).toMatchObject({ status: 404, body: { code: 'not-found' } });
    expect(await platform.call('DELETE', path)).toMatchObject({ status: 404 });
  });
});
