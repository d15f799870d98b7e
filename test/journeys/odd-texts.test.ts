import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  deploy,
  fault,
  install,
  requestsOf,
  simulator,
  type ProblemBody,
  type WriteBody,
} from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

describe('test/journeys/odd-texts', () => {
  let test: TestDatabase;
  let platform: Platform;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    await install(platform, 'hubspot-crm', 'acme');
    await simulator(platform.hubspot, 'DELETE', '/requests');
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  const write = '/write/v1/projects/default/integrations/hubspot-crm/objects/contacts';
  /** Operations that a worker would still have under way. */
  const unfinished = async (): Promise<unknown[]> =>
    (await platform.call<{ results: unknown[] }>('GET', '/projects/default/operations?status=in_progress'))
      .body.results;

  const nul = 'a\u0000b';
  const record = { email: 'a@example.com' };
  const association = { types: [{ associationCategory: nul, associationTypeId: 1 }], to: { id: '1' } };
  const large = Object.fromEntries(Array.from({ length: 4_000 }, (_, at) => [`field${at}`, 'x'.repeat(20)]));

  it.each([
    ['a value', { record: { email: nul } }, 'record.email'],
    ['a value within another', { record: { ...record, more: [{ deep: nul }] } }, 'record.more[0].deep'],
    ['a value of a large body', { record: { ...large, email: nul } }, 'record.email'],
    ['a name of a field', { record: { [nul]: 1 } }, 'record'],
    ['the id of what is changed', { type: 'update', record: { id: nul, city: 'x' } }, 'record.id'],
    ['a reference', { batch: [{ record, reference: nul }] }, 'batch[0].reference'],
    ['a record of a batch', { batch: [{ record }, { record: { email: nul } }] }, 'batch[1].record.email'],
    [
      'an association',
      { record, associations: [association] },
      'associations[0].types[0].associationCategory',
    ],
    ['the field of an upsert', { type: 'upsert', upsertBy: nul, record }, 'upsertBy'],
    ['a header', { record, headers: [{ key: 'x-a', value: nul }] }, 'headers[0].value'],
    ['the group', { groupRef: nul, record }, 'groupRef'],
    [
      'what is gathered',
      { autoBatchPolicy: { maxDelayMinutes: 1 }, mode: 'asynchronous', record: { email: nul } },
      'record.email',
    ],
  ])('a write with a NUL is refused before it is accepted: %s', async (_, body, name) => {
    const answer = await platform.call<ProblemBody>('POST', write, {
      groupRef: 'acme',
      type: 'create',
      ...body,
    });
    expect([answer.status, answer.body.issues]).toEqual([
      400,
      [{ in: 'body', name, detail: 'holds the character U+0000, which cannot be kept' }],
    ]);
  });

  it('a backslash before `u0000` is text like any other', async () => {
    const answer = await platform.call('POST', write, {
      groupRef: 'acme',
      type: 'create',
      dryRun: true,
      record: { email: 'a\\u0000b' },
    });
    expect(answer.status).toBe(200);
  });

  it('NUL characters and other odd text never make a fault of ours', async () => {
    const bodies: [string, string, unknown][] = [
      ['POST', write, { groupRef: nul, type: 'create', record: { email: 'a@example.com' } }],
      ['POST', write, { groupRef: 'acme', type: 'create', mode: 'asynchronous', record: { email: nul } }],
      [
        'POST',
        write,
        { groupRef: 'acme', type: 'create', batch: [{ record: { [nul]: 1 }, reference: nul }] },
      ],
      [
        'POST',
        write,
        { groupRef: 'acme', type: 'update', mode: 'asynchronous', record: { id: nul, firstname: 'x' } },
      ],
      ['POST', write, { groupRef: 'acme', type: 'create', record: { email: '\ud800' } }],
      [
        'POST',
        '/oauth-connect',
        { projectIdOrName: 'default', provider: 'hubspot', groupRef: nul, consumerRef: nul, groupName: nul },
      ],
      [
        'POST',
        '/projects/default/connections:generate',
        {
          provider: 'hubspot',
          groupRef: nul,
          consumerRef: nul,
          oauth2AuthorizationCode: { accessToken: { token: nul } },
        },
      ],
      [
        'POST',
        '/projects/default/integrations/hubspot-crm/installations',
        { groupRef: nul, config: { content: { provider: 'hubspot' } } },
      ],
      [
        'POST',
        '/projects/default/integrations/hubspot-crm/installations?skipSampling=true',
        {
          groupRef: 'acme',
          config: { content: { provider: 'hubspot', read: { objects: { [nul]: { objectName: nul } } } } },
        },
      ],
      ['POST', '/projects', { name: nul }],
      ['POST', '/projects/default/api-keys', { label: nul }],
      ['POST', '/projects/default/provider-apps', { provider: 'hubspot', clientId: nul, clientSecret: nul }],
      [
        'PUT',
        '/projects/default/integrations:batch',
        {
          sourceYaml: `specVersion: 1.0.0\nintegrations:\n  - name: "a\\0b"\n    displayName: "\\0"\n    provider: hubspot\n    proxy: { enabled: true }\n`,
        },
      ],
      [
        'PUT',
        '/projects/default/integrations:batch',
        {
          sourceYaml: `specVersion: 1.0.0\nintegrations:\n  - name: nul\n    displayName: "\\0"\n    provider: hubspot\n    proxy: { enabled: true }\n`,
        },
      ],
      ['GET', '/projects/a%00b/integrations', undefined],
      ['GET', '/projects/default/integrations/a%00b', undefined],
      ['GET', '/projects/default/connections?groupRef=a%00b', undefined],
      ['GET', '/projects/default/operations/a%00b', undefined],
      ['GET', '/projects/default/api-keys/a%00b', undefined],
      ['GET', '/projects/%ff', undefined],
      ['GET', '/projects/%', undefined],
      ['GET', '/callbacks/v1/oauth?state=a%00b&code=%00', undefined],
    ];
    const faults: string[] = [];
    for (const [method, path, body] of bodies) {
      const answer = await platform.call<ProblemBody>(method, path, body);
      if (answer.status >= 500 || answer.status === 0)
        faults.push(`${method} ${path} ${JSON.stringify(body)}: ${answer.text}`);
    }
    expect(faults).toEqual([]);
    expect(await unfinished()).toEqual([]);
  });

  it.each([
    ['POST', '/projects/default/api-keys', { label: 'a\0', scopes: ['full'] }, 'body', 'label'],
    ['GET', '/projects/default/connections?groupRef=a%00b', undefined, 'query', 'groupRef'],
    ['GET', '/projects/default/integrations/a%00b', undefined, 'path', 'integrationIdOrName'],
  ] as const)('NUL is refused where it stands: %s %s', async (method, path, body, place, name) => {
    const answer = await platform.call<ProblemBody>(method, path, body);
    expect([answer.status, answer.body.issues]).toEqual([
      400,
      [
        expect.objectContaining({
          in: place,
          name,
          detail: expect.stringMatching(/U\+0000|control characters/) as string,
        }),
      ],
    ]);
  });

  it('NUL that YAML escapes is refused by line and column, and the project can be exported', async () => {
    const sourceYaml = `specVersion: 1.0.0\nintegrations:\n  - name: nul\n    displayName: "\\0"\n    provider: hubspot\n    proxy: { enabled: true }\n`;
    const answer = await platform.call<ProblemBody>('PUT', '/projects/default/integrations:batch', {
      sourceYaml,
    });
    expect([answer.status, answer.body.issues]).toEqual([
      422,
      [expect.objectContaining({ name: 'integrations[0].displayName', line: 4, column: 5 })],
    ]);
    const passphrase = 'correct horse battery staple';
    expect((await platform.call('POST', '/projects/default/exports', { passphrase })).status).toBe(200);
  });

  it('nothing of it reaches a provider', async () => {
    expect(await requestsOf(platform.hubspot)).toEqual([]);
  });

  it.each([
    ['is cut in the middle of a character', `${'x'.repeat(998)}😀 is no good value`],
    ['has half of a surrogate pair', 'half \ud83d is no good value'],
  ])(
    'a failure whose message %s is kept as it was answered, and found by its category',
    async (_, message) => {
      const body = JSON.stringify({ status: 'error', category: 'VALIDATION_ERROR', message });
      await fault(platform.hubspot, {
        method: 'POST',
        path: '/contacts',
        fault: { kind: 'status', status: 400, body },
      });
      const headers = { 'idempotency-key': `key-${message.length}` };
      const ask = () =>
        platform.call<WriteBody>('POST', write, { groupRef: 'acme', type: 'create', record }, { headers });
      const [first, again] = [await ask(), await ask()];
      expect([first.status, first.text.includes('\\ud83d'), again.text]).toEqual([422, false, first.text]);
      const list = await platform.call<{ results: { id: string }[] }>(
        'GET',
        '/projects/default/operations?errorCategory=validation',
      );
      expect(list.body.results.map(({ id }) => id)).toContain(first.body.operationId);
    },
  );
});
