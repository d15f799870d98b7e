import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, deploy, fault, simulator, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

describe('test/journeys/unknown-names', () => {
  let test: TestDatabase;
  let platform: Platform;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  it('an object that the provider does not have is reported by the deploy, once there is a connection to ask, and by the install', async () => {
    const manifest = (provider: string, ...objects: string[]) => `specVersion: 1.0.0
integrations:
  - name: typo-${provider}
    provider: ${provider}
    write:
      objects:
${objects.map((name) => `        - objectName: ${name}\n`).join('')}`;
    const send = (text: string, query = '') =>
      platform.call<{ warnings?: { rule: string; message: string; line: number }[] }[]>(
        'PUT',
        `/projects/default/integrations:batch${query}`,
        { sourceYaml: text },
      );
    await connect(platform, 'hubspot', 'typo');
    const warning = expect.objectContaining({
      rule: 'object-unknown',
      line: 8,
      message: expect.stringContaining('did you mean "contacts"?'),
    });
    const typo = manifest('hubspot', 'companies', 'contactz');
    const dry = await platform.call('PUT', '/projects/default/integrations:batch?dryRun=true', {
      sourceYaml: typo,
    });
    expect(dry.body).toMatchObject({ warnings: [warning] });
    expect((await send(typo)).body).toMatchObject([{ warnings: [warning] }]);

    const path = '/projects/default/integrations/typo-hubspot/installations';
    const write = { objects: { contactz: { objectName: 'contactz', deletionSettings: { enabled: true } } } };
    const refused = await platform.call<ProblemBody>('POST', path, {
      groupRef: 'typo',
      config: { content: { provider: 'hubspot', write } },
    });
    expect(refused).toMatchObject({
      status: 422,
      body: {
        code: 'config-invalid',
        issues: [
          {
            name: 'config.content.write.objects.contactz.objectName',
            detail: expect.stringContaining('did you mean "contacts"?'),
          },
        ],
      },
    });
    const made = await platform.call<{ warnings?: { message: string }[] }>('POST', path, {
      groupRef: 'typo',
      config: { content: { provider: 'hubspot' } },
    });
    expect(made.status).toBe(201);
    expect(made.body.warnings).toEqual([{ message: expect.stringContaining('did you mean "contacts"?') }]);

    await connect(platform, 'salesforce', 'typo');
    expect((await send(manifest('salesforce', 'Contakt', 'account'))).body[0]?.warnings).toEqual([
      expect.objectContaining({ message: expect.stringContaining('did you mean "Contact"?'), line: 7 }),
    ]);
  });

  it('a field or an associated object that the provider does not have is reported by the deploy and by the install', async () => {
    await connect(platform, 'hubspot', 'typo-fields');
    const sourceYaml = `specVersion: 1.0.0
integrations:
  - name: typo-fields
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          destination: hook
          requiredFields:
            - fieldName: email
            - fieldName: emaill
          optionalFields:
            - fieldName: phonne
              mapToName: phone
            - { mapToName: town, default: citty }
            - { fieldName: surname, mapToName: lastname }
          associations:
            objects: [companies, companiez]
`;
    const answer = await platform.call<{ warnings?: { rule: string; message: string; line: number }[] }[]>(
      'PUT',
      '/projects/default/integrations:batch',
      { sourceYaml },
    );
    const told = (answer.body[0]?.warnings ?? []).filter(({ rule }) => /^(object|field)-unknown$/.test(rule));
    expect(told.map(({ rule, line }) => `${rule} ${line}`)).toEqual([
      'object-unknown 18',
      'field-unknown 11',
      'field-unknown 13',
      'field-unknown 15',
      'field-unknown 16',
    ]);
    const meant = ['companies', 'email', 'phone', 'city'].map((name) => `did you mean "${name}"?`);
    const hints = [...meant, 'has "lastname": `fieldName` is the provider\'s name'];
    expect(told.map(({ message }) => message)).toEqual(
      hints.map((hint) => expect.stringContaining(hint) as string),
    );
    const made = await platform.call<{ warnings?: { message: string }[] }>(
      'POST',
      '/projects/default/integrations/typo-fields/installations',
      { groupRef: 'typo-fields', config: { content: { provider: 'hubspot' } } },
    );
    expect(made.body.warnings).toEqual(told.map(({ message }) => ({ message })));

    // A deploy that could not ask does not look like one that found nothing.
    const expectUnchecked = async (why: string): Promise<void> => {
      const unchecked = await platform.call<{ warnings?: { rule: string; message: string }[] }[]>(
        'PUT',
        '/projects/default/integrations:batch',
        { sourceYaml: sourceYaml.replace('emaill', 'emailll') },
      );
      const message = expect.stringContaining(why) as string;
      expect(unchecked.body[0]?.warnings).toContainEqual(
        expect.objectContaining({ rule: 'names-unchecked', message }),
      );
    };
    for (const unable of [{ kind: 'status', status: 503 }, { kind: 'malformed' }]) {
      await fault(platform.hubspot, { method: 'GET', path: '/properties', fault: unable, times: 20 });
      await expectUnchecked('could not be asked');
      await simulator(platform.hubspot, 'DELETE', '/faults');
    }

    await test.database.raw(`UPDATE connection SET status = 'bad_credentials' WHERE provider = 'hubspot'`);
    await expectUnchecked('could not be asked, since no connection to it works');
  });
});
