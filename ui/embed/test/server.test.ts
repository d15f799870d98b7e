import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../../..');

/** Each component as a server renders it: in a page that is shown, and in place of it. */
const script = `
import { createElement, version } from 'react';
import { renderToString } from 'react-dom/server';
import * as embed from '@svc/embed';
const { SvcProvider } = embed;
const given = { baseUrl: 'https://svc.example.com', project: 'p', integration: 'i', groupRef: 'g', consumerRef: 'c' };
const inside = (child) => renderToString(createElement(SvcProvider, { ...given, getToken: async () => 't' }, child));
const hooks = Object.entries(embed).filter(([name]) => name.startsWith('use'));
const Hooks = () => hooks.map(([name, hook]) => typeof hook(name === 'useProviderInfo' ? 'hubspot' : undefined)).join(' ');
const html = {};
for (const name of ['InstallIntegration', 'ConnectProvider', 'ConnectionHealth'])
  for (const mode of ['popup', 'redirect'])
    html[name + ' ' + mode] = inside(createElement(embed[name], { mode, appearance: { language: 'en' } }));
html.hooks = inside(createElement(Hooks));
console.log(JSON.stringify({ version, html, hooks: hooks.length }));
`;

describe('ui/embed/server', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-embed-server-'));
    await writeFile(join(folder, 'page.js'), script);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each([18, 19] as const)('renders every component and hook on a server, with React %i', async (react) => {
    const modules = join(root, react === 18 ? 'test/react-18/node_modules' : 'node_modules');
    const alias = [
      { find: /^@svc\/client$/, replacement: join(root, 'ui/client/src/index.ts') },
      { find: /^@svc\/embed$/, replacement: join(root, 'ui/embed/src/index.ts') },
      { find: /^react$/, replacement: join(modules, 'react') },
      { find: /^react\/jsx-runtime$/, replacement: join(modules, 'react/jsx-runtime.js') },
      { find: /^react-dom$/, replacement: join(modules, 'react-dom') },
      { find: /^react-dom\/server$/, replacement: join(modules, 'react-dom/server.js') },
    ];
    const outDir = join(folder, String(react));
    await build({
      root: folder,
      configFile: false,
      logLevel: 'silent',
      define: { 'process.env.NODE_ENV': '"production"' },
      esbuild: { jsx: 'automatic', jsxDev: false },
      resolve: { alias },
      ssr: { noExternal: true },
      build: {
        ssr: join(folder, 'page.js'),
        outDir,
        minify: false,
        rollupOptions: { output: { format: 'cjs', entryFileNames: 'page.cjs' } },
      },
    });
    const { stdout } = await promisify(execFile)(process.execPath, [join(outDir, 'page.cjs')]);
    const { version, html, hooks } = JSON.parse(stdout) as {
      version: string;
      html: Record<string, string>;
      hooks: number;
    };
    expect(version).toMatch(new RegExp(`^${react}\\.`));
    expect(hooks).toBeGreaterThan(8);
    expect(html['hooks']).toMatch(/^(object ?)+$/);
    const { hooks: _hooks, ...components } = html;
    for (const [name, text] of Object.entries(components))
      expect([name, text]).toEqual([name, expect.stringContaining('svc-loading')]);
  });
});
