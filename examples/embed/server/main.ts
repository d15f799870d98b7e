/** The server of Mailmonkey. `SVC_URL` and `SVC_API_KEY` say where svc is; `SVC_PROJECT`, `PORT`, `ORIGIN` have defaults. */
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { Svc } from '@svc/client';
import { createApp } from './app.ts';
import { setUp } from './setup.ts';

function setting(name: string, otherwise?: string): string {
  const value = process.env[name] ?? otherwise;
  if (value === undefined) throw new Error(`set ${name}`);
  return value;
}

const svcUrl = setting('SVC_URL');
const svc = new Svc({
  baseUrl: svcUrl,
  project: setting('SVC_PROJECT', 'default'),
  apiKey: setting('SVC_API_KEY'),
});
const { server, ready } = createApp({ svc, svcUrl, folder: setting('PAGE_FOLDER', 'page/dist') });
await new Promise<void>((resolve) => server.listen(Number(setting('PORT', '0')), '127.0.0.1', resolve));
const origin = setting('ORIGIN', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
ready(await setUp(svc, origin, await readFile(setting('MANIFEST', 'svc.yaml'), 'utf8')));
process.stdout.write(`Mailmonkey: ${origin}\n`);
process.once('SIGTERM', () => {
  server.close();
  server.closeAllConnections();
});
