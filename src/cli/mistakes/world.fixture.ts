import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificate } from '../../../test/certificate.ts';
import { deploy, install, manifest } from '../../../test/customer.ts';
import { createTestDatabase } from '../../../test/database.ts';
import { freePort } from '../../../test/free-port.ts';
import { startPlatform, type Platform } from '../../../test/platform.ts';
import { files } from './files.fixture.ts';
import { shareProcess } from './here.fixture.ts';

/** What a mistake may name, and what its answer is written down with: `$CONNECTION` for an id. */
export type Names = Readonly<Record<string, string>>;

/** One server with a customer, strangers that answer in its place, and a folder of files. */
export async function openWorld() {
  const database = await createTestDatabase();
  const platform = await startPlatform({ databaseUrl: database.url });
  const strangers = await openStrangers();
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-mistakes-')));
  for (const [name, text] of Object.entries(files(manifest))) await writeFile(join(folder, name), text);
  await mkdir(join(folder, 'folder'));
  const names: Names = { ...strangers.urls, ...(await populate(platform)), FOLDER: folder };
  const release = shareProcess(folder);
  return {
    platform,
    folder,
    names,
    release,
    async close(): Promise<void> {
      await chmod(folder, 0o755);
      await rm(folder, { recursive: true, force: true });
      strangers.close();
      await platform.stop();
      await database.drop();
    },
  };
}

export type World = Awaited<ReturnType<typeof openWorld>>;

/** A customer who is connected and has the integration, and one thing of each kind beside. */
async function populate(platform: Platform): Promise<Record<string, string>> {
  await deploy(platform);
  const customer = await install(platform, 'hubspot-crm', 'acme', {
    write: { objects: { contacts: { objectName: 'contacts' } } },
    proxy: { enabled: true },
  });
  const post = async (path: string, body: object): Promise<Record<string, string>> =>
    (await platform.call<Record<string, string>>('POST', `/projects/default${path}`, body)).body;
  const written = await customer.write('contacts', {
    type: 'create',
    record: { email: 'ada@example.com' },
  });
  const reader = await post('/api-keys', { label: 'reader', scopes: ['read'] });
  const writer = await post('/api-keys', { label: 'writer', scopes: ['write'] });
  const grouped = await post('/api-keys', { label: 'grouped', scopes: ['read'], groupRef: 'other' });
  const disabled = await post('/api-keys', { label: 'disabled' });
  await platform.call('PATCH', `/projects/default/api-keys/${disabled['id']}`, {
    updateMask: ['active'],
    apiKey: { active: false },
  });
  const apps = await platform.call<{ results: { id: string }[] }>(
    'GET',
    '/projects/default/provider-apps?pageSize=1',
  );
  const destination = await post('/destinations', {
    name: 'inbox',
    type: 'webhook',
    metadata: { url: 'http://127.0.0.1:9/hooks' },
  });
  return {
    URL: platform.base,
    PROXY: platform.proxy,
    PORT: new URL(platform.base).port,
    APIKEY: platform.apiKey,
    PROJECT: platform.projectId,
    CONNECTION: customer.connectionId,
    INSTALLATION: customer.installationId,
    OPERATION: written.body.operationId,
    DESTINATION: destination['id'] ?? '',
    APP: apps.body.results[0]?.id ?? '',
    KEYID: reader['id'] ?? '',
    READER: reader['key'] ?? '',
    WRITER: writer['key'] ?? '',
    GROUPED: grouped['key'] ?? '',
    DISABLED: disabled['key'] ?? '',
    RECEIVER: platform.hubspot,
  };
}

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

const page: Answer = (_request, response) =>
  response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Welcome</html>');

/** What else may answer at the address of a server. */
const answers: Readonly<Record<string, Answer>> = {
  HTML: page,
  GATEWAY: (_request, response) =>
    response.writeHead(502, { 'content-type': 'text/html' }).end('<html><h1>502 Bad Gateway</h1></html>'),
  SIGNIN: (_request, response) => response.writeHead(302, { location: 'https://login.example.com/' }).end(),
  HANGUP: (request) => request.socket.destroy(),
  OTHER: (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"hello":"world"}'),
  BUSY: (_request, response) =>
    response
      .writeHead(503, { 'content-type': 'application/problem+json' })
      .end(
        '{"code":"held","status":503,"detail":"This database is held.","remedy":"Run `svc restore resume` on the server."}',
      ),
  OLDER: (_request, response) =>
    response
      .writeHead(404, { 'content-type': 'application/problem+json' })
      .end(
        '{"code":"route-not-found","status":404,"detail":"There is no such route.","remedy":"See /docs."}',
      ),
};

async function openStrangers() {
  const servers = [
    ...Object.entries(answers).map(([name, answer]) => ({
      name,
      scheme: 'http',
      server: createServer(answer),
    })),
    {
      name: 'SELFSIGNED',
      scheme: 'https',
      server: createTlsServer({ cert: certificate.cert, key: certificate.key }, page),
    },
  ];
  const urls: Record<string, string> = { AWAY: `http://127.0.0.1:${await freePort()}` };
  for (const { name, scheme, server } of servers) {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    urls[name] = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  return {
    urls,
    close: () => {
      for (const { server } of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}
