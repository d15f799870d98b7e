import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../test/database.ts';
import { startPlatform } from '../../test/platform.ts';
import { openFolder } from './run.fixture.ts';

describe('cli/doctor', () => {
  it('says of a server that listens and is silent that it did not answer, not that it is away', async () => {
    const at = await openFolder();
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const { code, out } = await at.run(['doctor', '--url', `http://127.0.0.1:${port}`]);
    expect(code).toBe(4);
    expect(out).toContain(`http://127.0.0.1:${port} did not answer in 5 s`);
    expect(out).not.toMatch(/cannot be reached|Start svc/);
    silent.close();
    await at.close();
  }, 60_000);

  it('knows the port of the proxy for what it is', async () => {
    const at = await openFolder();
    const test = await createTestDatabase();
    const platform = await startPlatform({ databaseUrl: test.url });
    const { code, out } = await at.run(['doctor'], { env: { SVC_API_URL: platform.proxy } });
    expect(code).toBe(4);
    expect(out).toContain(`what answers at ${platform.proxy} is the proxy of svc`);
    expect(out).toContain('Name the address of its management surface');
    const secure = platform.base.replace('http:', 'https:');
    const told = await at.run(['doctor'], { env: { SVC_API_URL: secure } });
    expect(told.out).toMatch(/does not speak TLS[^]*Write the address with http:\/\//);
    await platform.stop();
    await test.drop();
    await at.close();
  }, 60_000);

  it('says nothing against the key while the server has no database', async () => {
    const at = await openFolder();
    const away = createHttpServer(({ url = '' }, response) => {
      const isAbout = url === '/openapi.json';
      const body = isAbout
        ? { info: { version: '1.0.0' } }
        : { code: 'database-unavailable', status: 503, detail: 'no database', retryable: true };
      const type = isAbout ? 'application/json' : 'application/problem+json';
      response.writeHead(isAbout ? 200 : 503, { 'content-type': type }).end(JSON.stringify(body));
    }).listen(0, '127.0.0.1');
    await once(away, 'listening');
    const { port } = away.address() as AddressInfo;
    const env = { SVC_API_URL: `http://127.0.0.1:${port}`, SVC_API_KEY: 'svc_any' };
    const { code, out } = await at.run(['doctor'], { env });
    expect(code).toBe(4);
    expect(out).toContain('whether the key is good is not known');
    expect(out).not.toContain('Take a key that is valid');
    away.close();
    await at.close();
  }, 60_000);
});
