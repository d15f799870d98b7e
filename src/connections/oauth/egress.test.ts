import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness, type Harness } from '../harness.fixture.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await createHarness({
    hubspot: 'http://127.0.0.2:4010',
    salesforceJWT: 'http://127.0.0.2:4011',
  });
  await harness.projects.providerApps.create(harness.projectId, {
    provider: 'hubspot',
    clientId: 'hs',
    clientSecret: 'hs-secret',
    scopes: ['oauth'],
  });
});
afterAll(() => harness.close());

/** A provider at an address that may not be called: the caller is told so, and which entry would allow it. */
describe('connections/oauth/egress', () => {
  it('says so to the customer who comes back from the consent page', async () => {
    const started = await harness.call('POST', '/v1/oauth-connect', {
      projectIdOrName: 'default',
      provider: 'hubspot',
      groupRef: 'acme',
      consumerRef: 'ada',
    });
    const state = encodeURIComponent((await harness.open(started.text)).searchParams.get('state') ?? '');
    const page = await harness.call('GET', `/callbacks/v1/oauth?state=${state}&code=abc`);
    expect(page.text).toContain('127.0.0.2:4010 in SVC_EGRESS_ALLOW');
  });

  it('refuses credentials at hand with egress-refused', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const answer = await harness.call('POST', '/v1/projects/default/connections:generate', {
      provider: 'salesforceJWT',
      groupRef: 'acme',
      consumerRef: 'ada',
      providerWorkspaceRef: 'acme',
      customAuth: { clientId: 'app', username: 'ada@acme.example', privateKey: key },
    });
    expect(answer).toMatchObject({ status: 502, json: { code: 'egress-refused' } });
    expect(answer.text).toContain('127.0.0.2:4011 in SVC_EGRESS_ALLOW');
  });
});
