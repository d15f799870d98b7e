import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  bucket,
  secrets as storeSecrets,
  startStore,
  type TestStore,
} from '../../src/deliveries/s3/harness.fixture.ts';
import { deploy, install, type ProblemBody } from '../customer.ts';
import { createTestDatabase } from '../database.ts';
import { startPlatform, type Platform } from '../platform.ts';

const manifest = `specVersion: 1.0.0
integrations:
  - name: hubspot-crm
    provider: hubspot
    read:
      objects:
        - objectName: contacts
          mapToName: people
          destination: archive
          requiredFields: [{ fieldName: email }]
          backfill: { defaultPeriod: { fullHistory: true } }
        - objectName: companies
          destination: to-look-at
          requiredFields: [{ fieldName: name }]
          backfill: { defaultPeriod: { fullHistory: true } }
`;
const base = '/projects/default/destinations';

interface DestinationBody extends ProblemBody {
  metadata: Record<string, unknown>;
  secrets?: Record<string, unknown>;
  success: boolean;
  error: string;
}

interface Message {
  action?: string;
  notificationType?: string;
  result?: { raw: { id: string } }[];
}

describe('test/journeys/destination-kinds', () => {
  let platform: Platform;
  let dataDir: string;
  let store: TestStore;
  let channel: Server;
  const said: string[] = [];

  beforeAll(async () => {
    store = await startStore();
    channel = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        said.push((JSON.parse(Buffer.concat(chunks).toString()) as { text: string }).text);
        response.writeHead(200).end('ok');
      });
    });
    await new Promise<void>((resolve) => channel.listen(0, '127.0.0.1', resolve));
    dataDir = await mkdtemp(join(tmpdir(), 'svc-kinds-'));
    await chmod(dataDir, 0o755);
    // Without DATABASE_URL the platform is one for development.
    platform = await startPlatform({ env: { SVC_DATA_DIR: dataDir } });
  }, 60_000);
  afterAll(async () => {
    await platform?.stop();
    await store?.close();
    channel?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const create = (name: string, type: string, metadata: object, secrets?: object) =>
    platform.call<DestinationBody>('POST', base, { name, type, metadata, ...(secrets ? { secrets } : {}) });
  const test = async (name: string) =>
    (await platform.call<DestinationBody>('POST', `${base}/${name}:test`)).body;
  const atStore = () => ({
    bucket,
    region: 'us-east-1',
    endpointUrl: store.url,
    pathStyle: true,
    keyTemplate: '{{type}}/{{object}}/{{id}}.json',
  });
  const objects = async (): Promise<Message[]> =>
    (await store.objects()).map(({ text }) => JSON.parse(text) as Message);
  const lines = async (): Promise<Message[]> => {
    const path = join(dataDir, 'files', platform.projectId, 'companies.ndjson');
    const text = await readFile(path, 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { message: Message }).message);
  };
  const idsIn = (messages: readonly Message[]): number =>
    new Set(messages.flatMap(({ result = [] }) => result.map(({ raw }) => raw.id))).size;

  it('names what is wrong with the metadata of each kind, and what to do', async () => {
    const refused = async (type: string, metadata: object, secrets?: object) => {
      const { status, body } = await create('bad', type, metadata, secrets);
      return [status, body.issues?.map(({ name }) => name)];
    };
    expect(await refused('s3', { ...atStore(), keyTemplate: '../{{id}}' }, storeSecrets)).toEqual([
      400,
      ['metadata.keyTemplate'],
    ]);
    expect(await refused('s3', atStore())).toEqual([400, ['secrets.awsKeyId', 'secrets.awsSecretKey']]);
    expect(
      await refused('amqp', { url: 'amqps://a:b@c/', exchange: 'e' }, { username: 'a', password: 'b' }),
    ).toEqual([400, ['metadata.url']]);
    expect(await refused('slack', { url: 'https://example.com/' })).toEqual([400, ['metadata.url']]);
    expect(await refused('file', { name: '../../etc/passwd' })).toEqual([400, ['metadata.name']]);
    expect(await refused('sqs', {})).toEqual([400, ['type']]);
  });

  it('shows secrets to those who ask for them only, and takes new ones', async () => {
    const made = await create('archive', 's3', atStore(), {
      ...storeSecrets,
      awsSecretKey: 'not-yet-the-key',
    });
    expect([made.status, made.text.includes('not-yet-the-key')]).toEqual([201, false]);
    expect(await test('archive')).toMatchObject({
      success: false,
      error: expect.stringMatching(/secrets\.awsSecretKey/) as string,
    });
    await platform.call('PATCH', `${base}/archive`, {
      updateMask: ['secrets.awsSecretKey'],
      destination: { secrets: { awsSecretKey: storeSecrets.awsSecretKey } },
    });
    expect(await test('archive')).toMatchObject({ success: true });
    const shown = await platform.call<DestinationBody>('GET', `${base}/archive?includeSecrets=true`);
    expect(shown.body.secrets).toEqual(storeSecrets);
    expect(platform.said()).not.toContain('hunter2');
  });

  it('each gets what is sent to it: records, and notifications in words', async () => {
    const { port } = channel.address() as AddressInfo;
    expect((await create('to-look-at', 'file', { name: 'companies' })).status).toBe(201);
    expect((await create('team', 'slack', { url: `http://127.0.0.1:${port}/services/T0` })).status).toBe(201);
    const routed = await platform.call('PUT', '/projects/default/notifications', {
      routes: ['archive', 'to-look-at', 'team'].map((destination) => ({
        eventTypes: ['installation.created'],
        destination,
      })),
    });
    expect(routed.status).toBe(200);
    await deploy(platform, manifest);
    const objectsOf = { contacts: { objectName: 'contacts' }, companies: { objectName: 'companies' } };
    await install(platform, 'hubspot-crm', 'kinds', { read: { objects: objectsOf } });
    await expect
      .poll(async () => [idsIn(await objects()), idsIn(await lines())], { timeout: 60_000, interval: 1_000 })
      .toEqual([50, 5]);
    const told = (messages: readonly Message[]) =>
      messages.filter(({ notificationType }) => notificationType === 'installation.created');
    await expect.poll(async () => told(await objects()).length, { timeout: 20_000 }).toBe(1);
    await expect.poll(async () => told(await lines()).length, { timeout: 20_000 }).toBe(1);
    await expect.poll(() => said.length, { timeout: 20_000 }).toBe(1);
    expect(said[0]).toMatch(/^:bell: .*kinds/);
    const keys = (await store.objects()).map(({ key }) => key.replace(/[^/]*$/, ''));
    expect(new Set(keys)).toEqual(new Set(['read/test/', 'read/people/', 'installation.created/-/']));
  }, 120_000);

  it('files are refused on a platform that is not for development', async () => {
    const database = await createTestDatabase();
    const production = await startPlatform({ databaseUrl: database.url });
    const answer = await production.call<ProblemBody>('POST', base, {
      name: 'files',
      type: 'file',
      metadata: { name: 'a' },
    });
    expect([answer.status, answer.body.issues]).toEqual([
      400,
      [
        expect.objectContaining({
          name: 'type',
          detail: expect.stringMatching(/development only/) as string,
        }),
      ],
    ]);
    await production.stop();
    await database.drop();
  }, 60_000);
});
