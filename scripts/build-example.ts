import { join } from 'node:path';
import { build as bundle } from 'esbuild';
import { build } from 'vite';

const root = join(import.meta.dirname, '..');
const example = join(root, 'examples/embed');
const source = (path: string): string => join(root, 'ui', path);

/** Builds `examples/embed` as its company would, with the packages of this checkout: `server.mjs`, and the page in `page`. */
export async function buildExample(outDir: string): Promise<void> {
  const client = { '@svc/client': source('client/src/index.ts') };
  await bundle({
    entryPoints: [join(example, 'server/main.ts')],
    outfile: join(outDir, 'server.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    alias: client,
    logLevel: 'error',
  });
  await build({
    root: join(example, 'page'),
    configFile: false,
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"' },
    esbuild: { jsx: 'automatic', jsxDev: false },
    resolve: {
      alias: [
        { find: /^@svc\/client$/, replacement: client['@svc/client'] },
        { find: /^@svc\/embed$/, replacement: source('embed/src/index.ts') },
        { find: /^@svc\/embed\/styles\.css$/, replacement: source('embed/src/styles.css') },
      ],
    },
    build: { outDir: join(outDir, 'page'), emptyOutDir: true, modulePreload: false },
  });
}

/** What its server takes from the environment. */
export function exampleEnv(outDir: string, svcUrl: string, apiKey: string): Record<string, string> {
  return {
    SVC_URL: svcUrl,
    SVC_API_KEY: apiKey,
    PAGE_FOLDER: join(outDir, 'page'),
    MANIFEST: join(example, 'svc.yaml'),
  };
}
