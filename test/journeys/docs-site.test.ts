import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { docsRoutes } from '../../src/docs-site.ts';
import { createHttpServer, type HttpServer } from '../../src/kit/http/server.ts';

const script = `document.documentElement.classList.add('dark')`;
const hash = createHash('sha256').update(script).digest('base64');

describe('test/journeys/docs-site', () => {
  let folder: string;
  let server: HttpServer;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-site-'));
  });
  afterEach(async () => {
    await server.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function serve(): Promise<void> {
    server = createHttpServer({
      log: pino({ level: 'silent' }),
      bodyLimitBytes: 1000,
      trustedProxies: [],
    });
    await server.register(docsRoutes(folder));
  }

  async function build(): Promise<void> {
    await mkdir(join(folder, 'assets'));
    await writeFile(join(folder, 'assets/app.1a2b.js'), 'export {};');
    await writeFile(
      join(folder, 'index.html'),
      `<script src="/docs/x.js"></script><script id="a">${script}</script>`,
    );
    await writeFile(join(folder, 'write.md'), '# Write');
  }

  it('says how to build the pages where they are not built', async () => {
    await serve();
    const page = await server.inject('/docs');
    expect([page.statusCode, page.body]).toEqual([200, expect.stringContaining('npm run docs:build')]);
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'/);
  });

  it('serves the pages with a policy that names their inline scripts, and no others', async () => {
    await build();
    await serve();
    expect((await server.inject('/docs')).headers['location']).toBe('/docs/');
    const page = await server.inject('/docs/');
    expect([page.statusCode, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain(`script-src 'self' 'sha256-${hash}';`);
    expect(policy).not.toContain('unsafe');
    expect(page.headers['cache-control']).toBe('no-cache');
    expect((await server.inject('/docs/assets/app.1a2b.js')).headers['cache-control']).toContain('immutable');
    expect((await server.inject('/docs/write.md')).body).toBe('# Write');
    expect((await server.inject('/docs/write.md?a=%ff')).body).toBe('# Write');
  });

  it.each([
    '/docs/nothing.html',
    '/docs/../package.json',
    '/docs/%2e%2e/%2e%2e/package.json',
    '/docs/assets/',
  ])('answers %s with a problem', async (path) => {
    await build();
    await serve();
    const answer = await server.inject(path);
    expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([404, 'route-not-found']);
  });

  it('lists the pages for those who read text', async () => {
    await serve();
    const { body, headers } = await server.inject('/llms.txt');
    expect([headers['content-type'], body]).toEqual([
      'text/plain; charset=utf-8',
      expect.stringContaining('[Quickstart](/docs/quickstart.md)'),
    ]);
  });
});
