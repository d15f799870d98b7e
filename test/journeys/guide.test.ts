import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newBrowser } from '../../simulator/browser.ts';
import { connect, deploy, install, type ProblemBody } from '../customer.ts';
import { createTestDatabase, type TestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

const guide = ['connect', 'destinations', 'read', 'proxy']
  .map((name) => readFileSync(`docs/guides/${name}.md`, 'utf8'))
  .join('\n')
  .replace('# Call through the proxy\n', '## Proxy\n')
  .replace('# Destinations\n', '## Destinations\n')
  .replace('## The first read\n', '## Read\n');
const run = promisify(execFile);

/** The shell commands of one section of the guide. */
function commandsOf(section: string): string {
  const text = guide.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  return [...text.matchAll(/```sh\n([^`]*)```/g)].map(([, commands]) => commands).join('\n');
}

describe('test/journeys/guide', () => {
  let test: TestDatabase;
  let platform: Platform;
  let installationId: string;

  beforeAll(async () => {
    test = await createTestDatabase();
    platform = await startPlatform({ databaseUrl: test.url });
    await deploy(platform);
    ({ installationId } = await install(platform, 'hubspot-crm', 'acme'));
  });
  afterAll(async () => {
    await platform?.stop();
    await test?.drop();
  });

  /** What a section's commands print, one after the other in one shell, as a reader runs them. */
  async function printed(section: string): Promise<string> {
    const commands = commandsOf(section).replaceAll('http://127.0.0.1:4001', platform.proxy);
    const env = { ...process.env, SVC: platform.base, KEY: platform.apiKey, P: 'default' };
    return (await run('sh', ['-euc', commands], { env })).stdout;
  }

  it('the commands of the proxy bring the provider’s own answer, with the id of the project that they find', async () => {
    const answer = JSON.parse(await printed('Proxy')) as { results: { id: string }[] };
    expect(answer.results).toHaveLength(1);
  });

  it('the commands of installing and reading bring what is read to the destination that was made', async () => {
    const secrets = JSON.parse((await printed('Destinations')).split(/(?<=\})(?=\{)/)[1] ?? '') as {
      secrets: { webhookSigningKey: string };
    };
    expect(secrets.secrets.webhookSigningKey).toMatch(/^whsec_/);
    await platform.call(
      'DELETE',
      `/projects/default/integrations/hubspot-crm/installations/${installationId}`,
    );
    const { status } = await platform.call('PUT', '/projects/default/integrations:batch', {
      sourceYaml: readFileSync('examples/crm-sync/svc.yaml', 'utf8'),
    });
    expect(status).toBe(200);
    await connect(platform, 'hubspot', 'acme');
    expect(await printed('Install')).toContain('"selectedFields":{"email":true}');
    expect(await printed('Read')).toMatch(/"operationId":"/);
    await expect
      .poll(
        async () => (await platform.call('GET', '/projects/default/deliveries?destination=crm-updates')).text,
        { timeout: 20_000 },
      )
      .toContain('"objectName":"contacts"');
  }, 60_000);

  it('the commands of connecting bring links, for HubSpot and for Salesforce', async () => {
    const links = (await printed('Connect')).split(/(?=http:)/);
    expect(links).toHaveLength(2);
    for (const link of links) expect((await fetch(link, { redirect: 'manual' })).status).toBe(302);
  });

  it('Salesforce is connected without its workspace, too', async () => {
    const started = await platform.call('POST', '/oauth-connect', {
      projectIdOrName: 'default',
      provider: 'salesforce',
      groupRef: 'no-workspace',
      consumerRef: 'ada',
    });
    expect((await newBrowser().open(started.text)).status).toBe(200);
    const path = '/projects/default/connections';
    const [made] = (await platform.call<{ id: string }[]>('GET', `${path}?groupRef=no-workspace`)).body;
    const renewed = await platform.call('GET', `${path}/${made?.id}?refresh=force`);
    expect([renewed.status, renewed.body['status']]).toEqual([200, 'created']);
  });

  it('whoever sends a name where the proxy needs the id is told where the id is', async () => {
    const answer = await fetch(`${platform.proxy}/crm/v3/objects/contacts`, {
      headers: {
        'x-api-key': platform.apiKey,
        'x-svc-proxy-version': '1',
        'x-svc-project-id': 'default',
        'x-svc-integration-name': 'hubspot-crm',
        'x-svc-group-ref': 'acme',
      },
    });
    const { detail } = (await answer.json()) as ProblemBody;
    expect([answer.status, detail]).toEqual([400, expect.stringMatching(/not its name; GET \/v1\/projects/)]);
  });
});
