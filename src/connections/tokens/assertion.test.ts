import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSalesforce } from '../../../simulator/salesforce/index.ts';
import { control, createHarness, tokenRequests, type Harness } from '../harness.fixture.ts';

const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const clientId = '3MVG9.of-acme';

function newKeys(modulusLength = 2048): { publicPem: string; privatePem: string; oldPem: string } {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength });
  return {
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    oldPem: privateKey.export({ type: 'pkcs1', format: 'pem' }) as string,
  };
}

describe('connections/tokens/assertion', () => {
  const keys = newKeys();
  let salesforce: Awaited<ReturnType<typeof startSalesforce>>;
  let harness: Harness;

  beforeAll(async () => {
    salesforce = await startSalesforce({ records: 1 });
    await control(salesforce.url, 'apps', { clientId, scopes: ['api'], publicKey: keys.publicPem });
    harness = await createHarness({ salesforceJWT: salesforce.url });
  });
  afterAll(async () => {
    await harness?.close();
    await salesforce?.close();
  });

  const generate = (customAuth: Record<string, string>) =>
    harness.call('POST', '/v1/projects/default/connections:generate', {
      provider: 'salesforceJWT',
      groupRef: 'acme',
      consumerRef: 'ada',
      providerWorkspaceRef: 'acme',
      customAuth,
    });
  const good = { clientId, username: 'ada@acme.example', privateKey: keys.privatePem };

  it('connects Salesforce with a signed assertion, calls it, and signs a new one when the token is over', async () => {
    const made = await generate(good);
    expect(made).toMatchObject({ status: 201, json: { status: 'working', authScheme: 'custom' } });
    expect(made.text).not.toContain('PRIVATE KEY');
    const client = await harness.connections.client(harness.projectId, made.json.id);
    await control(salesforce.url, 'tokens', { action: 'expire' });
    const result = await client.send({ method: 'GET', path: '/services/data/v60.0/limits' });
    expect('answer' in result && result.answer.status).toBe(200);
    expect(await tokenRequests(salesforce.url, grantType)).toBe(2);
    expect((await harness.connections.get(harness.reach, made.json.id)).generation).toBe(2);
  });

  it('takes the older form of an RSA key, too', async () => {
    expect(await generate({ ...good, privateKey: keys.oldPem })).toMatchObject({ status: 201 });
  });

  it.each([
    ['nothing', ''],
    ['a space', ' '],
  ])('takes a key whose line ends a form made %s of', async (_what, between) => {
    for (const pem of [keys.privatePem, keys.oldPem])
      expect(await generate({ ...good, privateKey: pem.trim().replaceAll('\n', between) })).toMatchObject({
        status: 201,
      });
  });

  it('refuses a key that is not the one of the app', async () => {
    const answer = await generate({ ...good, privateKey: newKeys().privatePem });
    expect(answer).toMatchObject({ status: 422, json: { code: 'credentials-rejected' } });
  });

  it.each([
    ['no key', 'nothing'],
    ['a short key', newKeys(1024).privatePem],
    ['a public key', keys.publicPem],
  ])('refuses %s, naming the input and showing none of it', async (_what, privateKey) => {
    const answer = await generate({ ...good, privateKey });
    expect(answer).toMatchObject({ status: 400, json: { issues: [{ name: 'customAuth.privateKey' }] } });
    expect(answer.text).not.toContain(privateKey.slice(30, 60) || privateKey);
  });

  it('refuses inputs that are missing or unknown', async () => {
    const { username: _left, ...others } = good;
    expect(await generate(others)).toMatchObject({
      status: 400,
      json: { issues: [{ name: 'customAuth.username' }] },
    });
    expect(await generate({ ...good, secret: 'x' })).toMatchObject({ status: 400 });
  });
});
