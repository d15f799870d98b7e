import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { build } from 'vite';
import type { Platform } from '../platform.ts';

/** The builder's application: its page, and the server that asks svc for the tokens of its page. */
export interface App {
  url: string;
  /** How many were made so far. */
  tokens: number;
  close(): Promise<void>;
}

const root = join(import.meta.dirname, '../..');
const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** Builds the page with one of the two versions of React. */
export async function buildApp(react: 18 | 19, outDir: string): Promise<void> {
  const modules = join(root, react === 18 ? 'test/react-18/node_modules' : 'node_modules');
  const alias = [
    { find: /^@svc\/client$/, replacement: join(root, 'ui/client/src/index.ts') },
    { find: /^@svc\/embed$/, replacement: join(root, 'ui/embed/src/index.ts') },
    { find: /^@svc\/embed\/styles\.css$/, replacement: join(root, 'ui/embed/src/styles.css') },
    { find: /^react$/, replacement: join(modules, 'react') },
    { find: /^react\/jsx-runtime$/, replacement: join(modules, 'react/jsx-runtime.js') },
    { find: /^react-dom$/, replacement: join(modules, 'react-dom') },
    { find: /^react-dom\/client$/, replacement: join(modules, 'react-dom/client.js') },
  ];
  await build({
    root: join(root, 'ui/embed/test/app'),
    configFile: false,
    logLevel: 'error',
    // The build must not depend on the caller's NODE_ENV.
    define: { 'process.env.NODE_ENV': '"production"' },
    esbuild: { jsx: 'automatic', jsxDev: false },
    resolve: { alias },
    build: { outDir, emptyOutDir: true, minify: false, modulePreload: false },
  });
}

/** Whether windows that the page opens may know it, as its address asks. */
function policyOf({ url = '/' }: IncomingMessage): Record<string, string> {
  const asked = new URL(url, 'http://app').searchParams.get('coop');
  return asked === null ? {} : { 'cross-origin-opener-policy': asked };
}

export async function startApp(platform: Platform, folder: string): Promise<App> {
  const server = createServer((request, response) => {
    answer(request).then(
      ({ type, body }) => response.writeHead(200, { 'content-type': type, ...policyOf(request) }).end(body),
      () => response.writeHead(404).end(),
    );
  });
  const app: App = {
    url: '',
    tokens: 0,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
  async function answer(request: IncomingMessage): Promise<{ type: string; body: Buffer | string }> {
    const { pathname } = new URL(request.url ?? '/', 'http://app');
    if (pathname === '/token') {
      const person: unknown = JSON.parse(Buffer.concat(await request.toArray()).toString());
      const made = await platform.call('POST', `/projects/${platform.projectId}/frontend-tokens`, person);
      app.tokens += 1;
      return { type: 'application/json', body: made.text };
    }
    const name = pathname === '/' ? 'index.html' : pathname;
    return { type: types[extname(name)] ?? 'text/plain', body: await readFile(join(folder, name)) };
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  app.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return app;
}
