import { createApp } from '../src/app.ts';
import { readConfig } from '../src/config.ts';
import { createLog } from '../src/kit/log.ts';
import { generateMasterKey } from '../src/kit/vault.ts';
import { createSurfaces } from '../src/server.ts';

/** The OpenAPI document of the running routes; the database is never asked. */
export async function openApiDocument(): Promise<unknown> {
  const nowhere = 'postgres://127.0.0.1:1/none';
  const config = readConfig({ DATABASE_URL: nowhere, SVC_ENCRYPTION_KEYS: generateMasterKey('none') });
  const app = await createApp(config, nowhere, createLog('silent'));
  const server = await createSurfaces(app, config, { isStopping: false });
  try {
    await server.ready();
    return server.swagger();
  } finally {
    await server.close();
    await app.close();
  }
}
